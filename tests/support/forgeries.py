"""Changes to a model file that keep its checksum right. A forgery changes a header and arrays in place."""


def put(*keys, value):
    """Return a forgery that sets one entry of the header."""

    def forge(header, _arrays):
        for key in keys[:-1]:
            header = header[key]
        header[keys[-1]] = value

    return forge


def drop(*keys):
    """Return a forgery that removes one entry of the header."""

    def forge(header, _arrays):
        for key in keys[:-1]:
            header = header[key]
        del header[keys[-1]]

    return forge


def change(name, alter):
    """Return a forgery that replaces one array."""

    def forge(_header, arrays):
        arrays[name] = alter(arrays[name].copy())

    return forge


def lack(name):
    """Return a forgery that removes one array."""

    def forge(_header, arrays):
        del arrays[name]

    return forge


def with_value(place, value):
    """Return a function that sets one element of an array."""

    def alter(array):
        array[place] = value
        return array

    return alter
