package dev.hongbao.packet;

import dev.hongbao.engine.Generation;
import dev.hongbao.engine.ShardScript;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Closes packets by {@code close.lua}.
 *
 * @param closes of packets of one shard, at most {@link #MOST}
 */
record ClosePackets(List<Close> closes) {
    /** The script's limit on closes in one call. */
    static final int MOST = 256;

    /** The script's outcome for one close. */
    enum Outcome {
        /** The journal has the close. The packet gives no more shares. */
        CLOSING,
        /** The packet was closed before, and that close is not settled yet. */
        CLOSED,
        /** A cancel met a packet with a claim. Nothing changed. */
        CLAIMED,
        /** Redis has no such key: the packet is over, or a recovery has been requested. */
        MISSING
    }

    ClosePackets {
        closes = List.copyOf(closes);
    }

    /** Returns the outcome of each close, in order. */
    ShardScript.Call<List<Outcome>> call() {
        return new ShardScript.Call<>("close", closes.size(), this::write, this::read);
    }

    private void write(Generation generation, Request request) {
        closes.forEach(close -> request.arg(PacketKeys.hash(generation, close.packet())));
        closes.forEach(close -> request.arg(close.payload()));
        closes.forEach(close -> request.arg(close.ending() == PacketView.Status.CANCELLED ? "unclaimed" : ""));
    }

    private ShardScript.Reply<List<Outcome>> read(Generation generation, Response reply) {
        String[] words = reply.get(1).toString().split(" ");
        List<Outcome> outcomes = new ArrayList<>();
        List<Close> closing = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        for (int i = 0; i < words.length; i++) {
            Outcome outcome = Outcome.valueOf(words[i].toUpperCase(Locale.ROOT));
            outcomes.add(outcome);
            if (outcome == Outcome.CLOSING) {
                closing.add(closes.get(i));
            } else if (outcome == Outcome.MISSING && closes.get(i).ending() == null) {
                // An early end may come just after the packet ended. EarlyCloser checks that itself.
                missing.add(PacketKeys.hash(generation, closes.get(i).packet()));
            }
        }
        return new ShardScript.Reply<>(outcomes, closing, missing);
    }
}
