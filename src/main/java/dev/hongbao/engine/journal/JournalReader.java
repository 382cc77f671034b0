package dev.hongbao.engine.journal;

import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Generation;
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
 * <p>The verb is the name of a form: another form of what a script writes has another verb. So an entry of a newer version is never misread:
 * its items are void, which its shard is recovered for, and nobody was told that they are settled.
 */
public final class JournalReader {
    private static final Logger LOG = LoggerFactory.getLogger(JournalReader.class);

    /** Entries that a writer reads at once; with at most 256 claims each, some 10,000 claims. */
    public static final int PAGE = 40;

    private final RedisLinks redis;
    private final Map<String, JournalFormat> formats;

    /** @param formats of all that the journal may hold; anything else is void */
    public JournalReader(RedisLinks redis, Collection<JournalFormat> formats) {
        this.redis = redis;
        this.formats = formats.stream().collect(Collectors.toUnmodifiableMap(JournalFormat::verb, format -> format));
    }

    /**
     * The entries of the generation after {@code afterSeq}, in order.
     *
     * @param key the generation's journal, or where recovery put it; a missing key is an empty one
     * @param most entries that are read
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
                        "journal {} entry {}: item {} has a form that this version does not know, it is void",
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
        JournalFormat format = field.equals(verb) ? formats.get(verb) : null;
        return format == null ? null : format.read(payload.toString(StandardCharsets.US_ASCII));
    }
}
