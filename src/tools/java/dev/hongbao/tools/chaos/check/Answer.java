package dev.hongbao.tools.chaos.check;

/**
 * The result of a call.
 *
 * @param status of HTTP; 0 without an answer, -1 for an answer of another form
 * @param problem last part of the problem's type; without an answer the cause; empty for a success
 * @param id of a send its packet, of a deposit its transfer, of plays their numbers and prizes; else empty
 * @param slot of a claim; else -1
 * @param amount minor units of a claim or a balance, or of the call
 */
public record Answer(Verdict verdict, int status, String problem, String id, int slot, long amount) {
    /** The client's knowledge of the command. */
    public enum Verdict {
        /** Done and settled. */
        OK,
        /** Not done. */
        REFUSED,
        /** Done, or not, or later. */
        UNKNOWN
    }

    public static Answer unknown(int status, String cause) {
        return new Answer(Verdict.UNKNOWN, status, cause, "", -1, 0);
    }

    public static Answer refused(int status, String problem) {
        return new Answer(Verdict.REFUSED, status, problem, "", -1, 0);
    }

    /** A settled claim. */
    public static Answer claimed(int status, int slot, long amount) {
        return new Answer(Verdict.OK, status, "", "", slot, amount);
    }

    /** Another success. */
    public static Answer made(int status, String id, long amount) {
        return new Answer(Verdict.OK, status, "", id, -1, amount);
    }

    public boolean isOk() {
        return verdict == Verdict.OK;
    }

    public boolean isUnknown() {
        return verdict == Verdict.UNKNOWN;
    }

    @Override
    public String toString() {
        return verdict
                + Call.part(Integer.toString(status))
                + Call.part(problem)
                + Call.part(id)
                + (slot < 0 ? "" : " slot " + slot)
                + (amount == 0 ? "" : " amount " + amount);
    }
}
