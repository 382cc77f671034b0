package dev.hongbao.engine;

import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads journal entries back from Redis. On the link's event loop only.
 *
 * <p>A verb names one text form; a changed form gets a new verb. So an entry of a newer version is never misread: its items are
 * void. Its shard is recovered, and no item was answered as settled.
 */
public final class JournalReader {
    private static final Logger LOG = LoggerFactory.getLogger(JournalReader.class);

    /** Entries that a writer reads at once. With at most 256 claims each, they hold some 10,000 claims. */
    public static final int PAGE = 40;

    private final RedisLinks redis;
    private final Map<String, JournalItem.Format> formats;

    /** @param formats all forms that the journal may hold; items of any other form are void */
    public JournalReader(RedisLinks redis, Collection<JournalItem.Format> formats) {
        this.redis = redis;
        this.formats =
                formats.stream().collect(Collectors.toUnmodifiableMap(JournalItem.Format::verb, format -> format));
    }

    /**
     * Reads the generation's entries after {@code afterSeq}, in order.
     *
     * @param key the generation's journal, or the key to which recovery renamed it; a missing key is an empty journal
     * @param most the limit of entries to read
     */
    public Future<List<JournalEntry>> read(Generation generation, String key, long afterSeq, int most) {
        Request range = Request.cmd(Command.XRANGE)
                .arg(key)
                .arg("(" + generation.entryId(afterSeq))
                .arg(Long.toString(generation.epoch())) // up to its last possible entry
                .arg("COUNT")
                .arg(most);
        return generation.link(redis).send(range).map(reply -> {
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
                LOG.error(
                        "journal {} entry {}: item {} is void: this version does not know its form",
                        generation,
                        id,
                        fields.get(i));
            } else {
                items.add(item);
            }
        }
        return new JournalEntry(generation, seq, verb, items);
    }

    private @Nullable JournalItem decode(String field, String verb, Response payload) {
        JournalItem.Format format = field.equals(verb) ? formats.get(verb) : null;
        return format == null ? null : format.read(payload.toString(StandardCharsets.US_ASCII));
    }
}
