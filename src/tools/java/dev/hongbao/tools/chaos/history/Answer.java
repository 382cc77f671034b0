package dev.hongbao.tools.chaos.history;

/**
 * What came of a call.
 *
 * @param status of HTTP; 0 when there was no answer
 * @param problem the last part of the problem's type; of no answer, why; empty for a success
 * @param id of what was made: a send's packet, a deposit's transfer, a play's places and prizes; empty for none
 * @param slot a claim's; -1 for none
 * @param amount minor units: of a claim, of the balance; 0 for none
 */
public record Answer(Verdict verdict, int status, String problem, String id, int slot, long amount) {
    /** What is known of the command after it. */
    public enum Verdict {
        /** It is done, and settled. */
        OK,
        /** It is not done. */
        REFUSED,
        /** It may be done, now or later. */
        UNKNOWN
    }

    /** It is not known what became of it. @param why in a few words */
    public static Answer unknown(int status, String why) {
        return new Answer(Verdict.UNKNOWN, status, why, "", -1, 0);
    }

    public static Answer refused(int status, String problem) {
        return new Answer(Verdict.REFUSED, status, problem, "", -1, 0);
    }

    /** A settled claim. */
    public static Answer claimed(int status, int slot, long amount) {
        return new Answer(Verdict.OK, status, "", "", slot, amount);
    }

    /** Something else that was made. */
    public static Answer made(int status, String id, long amount) {
        return new Answer(Verdict.OK, status, "", id, -1, amount);
    }

    public boolean isOk() {
        return verdict == Verdict.OK;
    }

    /** Whether the server has said anything. */
    public boolean isAnswered() {
        return status != 0;
    }
}
