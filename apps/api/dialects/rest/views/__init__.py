"""Operations of the portal's own API, one module per kind of object."""
