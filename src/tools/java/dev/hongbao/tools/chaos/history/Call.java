package dev.hongbao.tools.chaos.history;

/**
 * What a simulated client asks of a server.
 *
 * @param user who acts; of a deposit or withdrawal, whose wallet it is
 * @param subject the packet of a claim and of a hostile call, the draw of a play, the campaign of a pool, {@link #terms} of a send; empty for the rest
 * @param key the idempotency key, made for this command alone; empty for none
 * @param amount minor units; 0 where none is asked for
 * @param server the number of the server that is asked, from 0
 */
public record Call(Kind kind, String user, String subject, String key, long amount, int server) {
    /** What can be asked. */
    public enum Kind {
        SEND,
        CLAIM,
        DEPOSIT,
        WITHDRAWAL,
        PLAY,
        POOL,
        BALANCE,
        /** What must be refused; the amount says which. */
        HOSTILE
    }

    /** A claim of a user on a packet. */
    public static Call claim(String user, String packet, int server) {
        return new Call(Kind.CLAIM, user, packet, "", 0, server);
    }

    /** The subject of a send of so many shares that live so long. */
    public static String terms(int shares, int seconds) {
        return shares + "x" + seconds;
    }

    /** The same command, asked of another server. */
    public Call at(int other) {
        return new Call(kind, user, subject, key, amount, other);
    }
}
