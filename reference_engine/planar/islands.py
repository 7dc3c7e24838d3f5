"""Islands: contacts that share no moving body, directly or through others, have nothing to do with each other.

Forces, impulses and projections are solved for one island after the other; what is fixed joins none. So the work grows
with the largest island, and with how many there are.
"""

from reference_engine.compiler.kernels import kernel
from reference_engine.planar import layout as col


@kernel
def is_loose(model, i):
    """Does body i move at all?"""
    return model.inv_mass[i] > 0.0 or model.inv_inertia[i] > 0.0


@kernel
def root_of(root, i):
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    return i


@kernel
def divide(model, contacts, n, work):
    """The islands of the first n contacts, numbered by their first contact; returns how many.

    Island s has the contacts work.order[work.first_contact[s] : work.first_contact[s + 1]], ascending, of which contact
    k is number work.at[k]; and likewise the bodies work.member, first_member, column (-1: a body that is in none).
    """
    R, root, label, count = model.inv_mass.shape[0], work.root, work.label, 0
    for i in range(R):
        root[i], label[i], work.column[i] = i, -1, -1
    for k in range(n):
        i, j = contacts.id[k, col.BODY_I], contacts.id[k, col.BODY_J]
        if is_loose(model, i) and is_loose(model, j):
            a, b = root_of(root, i), root_of(root, j)
            root[max(a, b)] = min(a, b)
    for k in range(n):
        i = contacts.id[k, col.BODY_I]
        i = root_of(root, i if is_loose(model, i) else contacts.id[k, col.BODY_J])
        if label[i] < 0:
            label[i] = count
            work.first_contact[count] = work.first_member[count] = 0
            count += 1
        work.island[k] = label[i]
        work.first_contact[label[i]] += 1
    total = members = 0
    for s in range(count):
        total, work.first_contact[s] = total + work.first_contact[s], total
    work.first_contact[count] = total
    for k in range(n):
        s = work.island[k]
        work.order[work.first_contact[s]] = k
        work.first_contact[s] += 1
    for s in range(count, 0, -1):
        work.first_contact[s] = work.first_contact[s - 1]
    work.first_contact[0] = 0
    for k in range(n):
        work.at[work.order[k]] = k - work.first_contact[work.island[work.order[k]]]
    for i in range(R):
        s = label[root_of(root, i)]
        if s >= 0 and is_loose(model, i):
            work.column[i] = work.first_member[s]
            work.first_member[s] += 1
    for s in range(count):
        members, work.first_member[s] = members + work.first_member[s], members
    work.first_member[count] = members
    for i in range(R):
        if work.column[i] >= 0:
            work.member[work.first_member[label[root_of(root, i)]] + work.column[i]] = i
    return count


@kernel
def largest(work, count):
    """The rows that the matrices of the largest island take."""
    most = 0
    for s in range(count):
        contacts = work.first_contact[s + 1] - work.first_contact[s]
        bodies = work.first_member[s + 1] - work.first_member[s]
        most = max(most, 2 * contacts, 3 * bodies)
    return most
