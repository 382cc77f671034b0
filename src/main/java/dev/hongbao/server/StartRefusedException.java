package dev.hongbao.server;

import java.util.List;

/** The server does not start on what it found; carries every reason, not only the first. Without a stack trace: it is for a person. */
public final class StartRefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    StartRefusedException(List<String> reasons) {
        super(reasons.size() == 1 ? reasons.get(0) : "\n  " + String.join("\n  ", reasons), null, false, false);
    }
}
