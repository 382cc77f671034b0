package dev.hongbao.engine.journal;

import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.Generation;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads journal entries back from Redis. */
public final class JournalReader {
    private static final Logger LOG = LoggerFactory.getLogger(JournalReader.class);

    /** Entries a read; with at most 256 claims each, some 10,000 claims. */
    public static final int PAGE = 40;

    private final RedisLink redis;
    private final Map<String, Settler> settlers;

    public JournalReader(RedisLink redis, Map<String, Settler> settlers) {
        this.redis = redis;
        this.settlers = settlers;
    }

    /**
     * The entries of the generation after {@code afterSeq}, in order, at most {@link #PAGE}.
     *
     * @param key the generation's journal, or where recovery put it; a missing key is an empty one
     */
    public Future<List<JournalEntry>> read(Generation generation, String key, long afterSeq) {
        Request range = Request.cmd(Command.XRANGE)
                .arg(key)
                .arg("(" + generation.entryId(afterSeq))
                .arg(Long.toString(generation.epoch())) // up to its last possible entry
                .arg("COUNT")
                .arg(PAGE);
        return redis.send(range).map(reply -> {
            List<JournalEntry> entries = new ArrayList<>();
            if (reply != null) {
                for (Response entry : reply) {
                    entries.add(decode(generation, entry));
                }
            }
            return entries;
        });
    }

    private JournalEntry decode(Generation generation, Response entry) {
        String id = entry.get(0).toString();
        long seq = Long.parseLong(id, id.indexOf('-') + 1, id.length(), 10);
        Response fields = entry.get(1);
        String verb = fields.get(0).toString();
        List<JournalItem> items = new ArrayList<>();
        for (int i = 0; i + 1 < fields.size(); i += 2) {
            JournalItem item = decode(fields.get(i).toString(), verb, fields.get(i + 1));
            if (item == null) {
                LOG.error("journal {} entry {} is not ours, an item of it is void", generation, id);
            } else {
                items.add(item);
            }
        }
        return new JournalEntry(generation, seq, verb, items);
    }

    private @Nullable JournalItem decode(String field, String verb, Response payload) {
        Settler settler = field.equals(verb) ? settlers.get(verb) : null;
        return settler == null ? null : settler.decode(payload.toString(StandardCharsets.US_ASCII));
    }
}
