package dev.hongbao.common.values;

/** What a caller may do beyond acting as its own user. */
public enum Role {
    /** A plain user: acts for itself, in its groups. */
    USER,
    /** The host application's backend: moves money in and out, reads any user, makes draws. */
    SERVICE
}
