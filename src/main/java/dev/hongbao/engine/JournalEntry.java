package dev.hongbao.engine;

import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.store.redis.Script;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One journal entry: the items that one call of a script accepted. Immutable. The server that called the script publishes it once
 * on the event bus at {@link #address(int)}, if it owns the shard. Delivery is best effort. An entry may be missing there (never
 * in the journal), and entries of several event loops come in any order.
 *
 * @param seq its place in the generation's journal, from 1 without gaps
 * @param verb the kind of its items; an entry has one kind
 */
public record JournalEntry(Generation generation, long seq, String verb, List<JournalItem> items) {
    public JournalEntry {
        items = List.copyOf(items);
    }

    /** The address of a shard's entries on the event bus. */
    public static String address(int shard) {
        return "journal." + shard;
    }

    /** The number of effects. */
    public int size() {
        int size = 0;
        for (JournalItem item : items) {
            size += item.size();
        }
        return size;
    }

    /**
     * One item that a script wrote into the journal, such as some accepted claims, or a close. Implementations are deeply immutable:
     * they travel on the event bus without a copy.
     */
    public interface JournalItem {
        /** The journal's name of this kind, see {@link Format}. */
        String verb();

        /** The number of effects, at least 1; batches are measured by it. */
        default int size() {
            return 1;
        }

        /** The packet or draw that it belongs to. */
        Quarantine.Unit unit();

        /** The item as the script wrote it; its {@link Format} reads it back. */
        String payload();

        /**
         * The text form of one kind of journal items. Writers and readers of a journal share it.
         *
         * @param verb the field name of the items in a journal entry
         * @param parser reads an item; null for text that the script does not write: its entry is then void
         */
        record Format(String verb, Function<String, @Nullable JournalItem> parser) {
            /** Reads an item of the journal; null for text that the script does not write. */
            public @Nullable JournalItem read(String payload) {
                return parser.apply(payload);
            }
        }
    }

    /**
     * Reads journal entries back from Redis. On the link's event loop only.
     *
     * <p>A verb names one text form; a changed form gets a new verb. So an entry of a newer version is never misread: it is void as a
     * whole, as a damaged one is. Its shard is recovered, and no item was answered as settled.
     */
    public static final class JournalReader {
        private static final Logger LOG = LoggerFactory.getLogger(JournalEntry.class);

        /** Entries that a writer reads at once. With at most 256 claims each, they hold some 10,000 claims. */
        public static final int PAGE = 40;

        /** No settler's verb. */
        private static final String UNREADABLE = "unreadable";

        private final RedisLinks redis;
        private final Map<String, JournalItem.Format> formats;

        /** @param formats all forms that the journal may hold; an entry with an item of any other form is void */
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
            List<String> fields = new ArrayList<>();
            for (Response field : entry.get(1)) {
                fields.add(field.toString(StandardCharsets.US_ASCII));
            }
            if (!isWhole(fields)) {
                LOG.error("journal {} entry {} is void: its checksum is wrong", generation, id);
                return new JournalEntry(generation, seq, UNREADABLE, List.of());
            }
            String verb = fields.get(2);
            List<JournalItem> items = new ArrayList<>();
            for (int i = 2; i + 1 < fields.size(); i += 2) {
                JournalItem item = decode(fields.get(i), verb, fields.get(i + 1));
                if (item == null) {
                    LOG.error(
                            "journal {} entry {} is void: this version cannot read its item {}",
                            generation,
                            id,
                            fields.get(i));
                    return new JournalEntry(generation, seq, UNREADABLE, List.of());
                }
                items.add(item);
            }
            return new JournalEntry(generation, seq, verb, items);
        }

        /** Whether its first value is the checksum of all that follows, as {@code fence/append.lua} writes it. */
        private static boolean isWhole(List<String> fields) {
            return fields.size() > 2
                    && fields.get(1).equals(Script.sha1(String.join(" ", fields.subList(2, fields.size()))));
        }

        private @Nullable JournalItem decode(String field, String verb, String payload) {
            JournalItem.Format format = field.equals(verb) ? formats.get(verb) : null;
            return format == null ? null : format.read(payload);
        }
    }
}
