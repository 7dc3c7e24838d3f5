"""Bodies that touch by elastic, damped contact with friction; when they touch and part is located on the solution.

materials    Material, PairLaw, Materials: what bodies are made of, and the law of every pair of materials
world        CompliantBody, CompliantWorld
layout       the arrays that the kernels share
response     the law of one contact
contacts     gaps of pairs, and which are in contact
rates        the equations of motion
clock        steps, events, samples
simulate     the way in
"""
