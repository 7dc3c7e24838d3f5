"""What a verdict rests on: where two motions first part, how a metric went over commits, how two ensembles differ.

Pure functions of arrays, without words of their own about cases, stores or engines.
"""
