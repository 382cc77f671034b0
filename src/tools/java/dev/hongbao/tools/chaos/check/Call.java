package dev.hongbao.tools.chaos.check;

import java.util.Locale;

/**
 * A request of a simulated client.
 *
 * @param user the caller; of a deposit or withdrawal the owner of the wallet
 * @param subject the packet of a claim and of a hostile call, the draw of a play, the campaign of a pool, {@link #terms} of a send; else empty
 * @param key the idempotency key, of this command only; empty for none
 * @param amount minor units; 0 for none
 * @param server number of the server, from 0
 */
public record Call(Kind kind, String user, String subject, String key, long amount, int server) {
    public enum Kind {
        SEND,
        CLAIM,
        DEPOSIT,
        WITHDRAWAL,
        PLAY,
        POOL,
        BALANCE,
        /** A forbidden call; the amount is its number. */
        HOSTILE
    }

    public static Call claim(String user, String packet, int server) {
        return new Call(Kind.CLAIM, user, packet, "", 0, server);
    }

    /** The subject of a send. @param seconds until its packet expires */
    public static String terms(int shares, int seconds) {
        return shares + "x" + seconds;
    }

    /** This command at another server. */
    public Call at(int other) {
        return new Call(kind, user, subject, key, amount, other);
    }

    @Override
    public String toString() {
        return kind.name().toLowerCase(Locale.ROOT)
                + part(user)
                + part(subject)
                + part(key)
                + (amount == 0 ? "" : " " + amount)
                + " at server "
                + server;
    }

    static String part(String text) {
        return text.isEmpty() ? "" : " " + text;
    }
}
