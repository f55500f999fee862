# SPDX-License-Identifier: GPL-2.0-only
# openmetrics.py FILE: "NAME SUM" of each metric, over all labels, as the Prometheus
# client's parser reads them.
import collections, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families

sums = collections.Counter()
for family in text_string_to_metric_families(open(sys.argv[1]).read()):
    assert family.documentation
    for sample in family.samples:
        assert sample.labels["log"] and int(sample.labels["cpu"]) >= 0
        sums[sample.name] += int(sample.value)
for name, value in sums.items():
    print(name, value)
