package dev.hongbao.domain.packet;

import dev.hongbao.engine.journal.ShardScript;
import dev.hongbao.engine.shard.Generation;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The call of {@code close.lua}. Answers what became of each close, in order.
 *
 * @param closes of packets of one shard, at most {@link #MOST}
 */
record ClosePackets(List<Close> closes) implements ShardScript.Call<List<ClosePackets.Outcome>> {
    /** What the script takes at once. */
    static final int MOST = 256;

    /** What the script says of a close. */
    enum Outcome {
        /** No share is given any more; the journal has it. */
        CLOSING,
        /** It was closed before, and that waits to be settled. */
        CLOSED,
        /** It is to be cancelled, and a share was given: nothing is changed. */
        CLAIMED,
        /** Redis lacks it: it is over, or recovery has been asked for. */
        MISSING
    }

    ClosePackets {
        closes = List.copyOf(closes);
    }

    @Override
    public String script() {
        return "close";
    }

    @Override
    public int keys() {
        return closes.size();
    }

    @Override
    public void write(Generation generation, Request request) {
        closes.forEach(close -> request.arg(PacketKeys.hash(generation, close.packet())));
        closes.forEach(close -> request.arg(close.payload()));
        closes.forEach(close -> request.arg(isForUnclaimed(close) ? "unclaimed" : ""));
    }

    private static boolean isForUnclaimed(Close close) {
        return close.early() != null && close.early().ending() == PacketStatus.CANCELLED;
    }

    @Override
    public ShardScript.Reply<List<Outcome>> read(Generation generation, Response reply) {
        String[] words = reply.get(1).toString().split(" ");
        List<Outcome> outcomes = new ArrayList<>();
        List<Close> closing = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        for (int i = 0; i < words.length; i++) {
            Outcome outcome = Outcome.valueOf(words[i].toUpperCase(Locale.ROOT));
            outcomes.add(outcome);
            if (outcome == Outcome.CLOSING) {
                closing.add(closes.get(i));
            } else if (outcome == Outcome.MISSING && closes.get(i).early() == null) {
                // Who ends a packet early may be late by a moment, and looks itself whether it is over.
                missing.add(PacketKeys.hash(generation, closes.get(i).packet()));
            }
        }
        return new ShardScript.Reply<>(outcomes, closing, missing);
    }
}
