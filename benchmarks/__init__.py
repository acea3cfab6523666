"""Speed, quality and memory of topoi beside tomotopy, topica and gensim: ``python -m benchmarks`` or ``make bench``."""
