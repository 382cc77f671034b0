package dev.hongbao.draw;

import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.values.DrawId;
import org.jspecify.annotations.Nullable;

/**
 * A journal item: the end of a draw, or of one of its periods. The period's open releases then return to the stock.
 *
 * @param period from 0; null for the draw
 */
record DrawEnd(DrawId draw, @Nullable Integer period) implements JournalItem {
    /** {@code <draw> <period or ->}, as end.lua writes it. */
    public static final JournalItem.Format FORMAT = new JournalItem.Format("end", DrawEnd::decode);

    @Override
    public String verb() {
        return FORMAT.verb();
    }

    @Override
    public Quarantine.Unit unit() {
        return Draw.unit(draw);
    }

    @Override
    public String payload() {
        return draw + " " + (period == null ? "-" : period.toString());
    }

    private static @Nullable DrawEnd decode(String payload) {
        int space = payload.indexOf(' ');
        DrawId draw = space < 0 ? null : DrawId.parse(payload.substring(0, space));
        if (draw == null) {
            return null;
        }
        String period = payload.substring(space + 1);
        try {
            return new DrawEnd(draw, period.equals("-") ? null : Integer.valueOf(period));
        } catch (NumberFormatException malformed) {
            return null;
        }
    }
}
