package dev.hongbao.values;

/** The rights of a caller. */
public enum Role {
    /** A plain user: acts for itself, in its groups. */
    USER,
    /** The host application's backend: moves money in and out, reads any user, makes draws. */
    SERVICE
}
