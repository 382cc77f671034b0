package dev.hongbao.server;

import java.util.List;

/** Refuses a start, with every reason. Without a stack trace: it is for the operator. */
public final class StartRefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    StartRefusedException(List<String> reasons) {
        super(reasons.size() == 1 ? reasons.get(0) : "\n  " + String.join("\n  ", reasons), null, false, false);
    }
}
