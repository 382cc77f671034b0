package dev.hongbao.simulation;

import dev.hongbao.store.redis.Script;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.luaj.vm2.Globals;
import org.luaj.vm2.LoadState;
import org.luaj.vm2.LuaClosure;
import org.luaj.vm2.LuaError;
import org.luaj.vm2.LuaString;
import org.luaj.vm2.LuaTable;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Prototype;
import org.luaj.vm2.Varargs;
import org.luaj.vm2.compiler.LuaC;
import org.luaj.vm2.lib.BaseLib;
import org.luaj.vm2.lib.MathLib;
import org.luaj.vm2.lib.OneArgFunction;
import org.luaj.vm2.lib.PackageLib;
import org.luaj.vm2.lib.StringLib;
import org.luaj.vm2.lib.TableLib;
import org.luaj.vm2.lib.VarArgFunction;

/**
 * A Redis in memory that runs the real scripts: one keyspace with the commands that they use. Deterministic. Confined to one
 * thread. A string holds bytes, one a character. {@code RedisModelIT} compares it with a real Redis.
 */
final class RedisModel {
    private static final String WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value";

    /** An error reply. */
    static final class RedisError extends RuntimeException {
        RedisError(String message) {
            super(message, null, false, false);
        }
    }

    /** A sorted set; by score, then by the member's bytes. */
    private static final class SortedSet {
        private final Map<String, Double> scores = new HashMap<>();

        List<Map.Entry<String, Double>> between(Bound from, Bound to) {
            return scores.entrySet().stream()
                    .filter(entry -> from.isBelow(entry.getValue()) && to.isAbove(entry.getValue()))
                    .sorted(Map.Entry.<String, Double>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                    .toList();
        }
    }

    /** A bound of scores as in ZRANGEBYSCORE. */
    private record Bound(double score, boolean isOpen) {
        static final Bound LOWEST = new Bound(Double.NEGATIVE_INFINITY, false);
        static final Bound HIGHEST = new Bound(Double.POSITIVE_INFINITY, false);

        static Bound of(String text) {
            return text.startsWith("(") ? new Bound(parsed(text.substring(1)), true) : new Bound(parsed(text), false);
        }

        boolean isBelow(double other) {
            return isOpen ? score < other : score <= other;
        }

        boolean isAbove(double other) {
            return isOpen ? score > other : score >= other;
        }
    }

    /** The id of a stream's entry. */
    private record EntryId(long first, long second) implements Comparable<EntryId> {
        static EntryId of(String text) {
            String[] parts = text.split("-", 2);
            return new EntryId(Long.parseLong(parts[0]), Long.parseLong(parts[1]));
        }

        @Override
        public int compareTo(EntryId other) {
            return first == other.first ? Long.compare(second, other.second) : Long.compare(first, other.first);
        }

        @Override
        public String toString() {
            return first + "-" + second;
        }
    }

    /** A stream, which remembers the id of its last entry when that is trimmed. */
    private static final class Stream {
        private final TreeMap<EntryId, List<String>> entries = new TreeMap<>();
        private EntryId last = new EntryId(0, 0);
        private long added;
    }

    private static final Map<String, Prototype> COMPILED = new ConcurrentHashMap<>();
    private static final Pattern GENERATION = Pattern.compile("-- Generation (\\S+)");
    private static final Pattern LINEAGE = Pattern.compile("master_replid:(\\w*)'");

    private final Map<String, Object> keys = new TreeMap<>();

    private final Map<String, LuaValue> compiled = new HashMap<>();
    private final Globals lua = new Globals();
    private boolean isFull;

    /** Its replication id, of which {@code INFO} tells. */
    String replid = "";

    /** Writes of hashes and streams so far. */
    private long writes;

    /** Whether the limit of memory holds for the next write: a script that has written goes on. */
    private boolean isLimited;

    RedisModel() {
        lua.load(new BaseLib());
        lua.load(new PackageLib());
        lua.load(new TableLib());
        lua.load(new StringLib());
        lua.load(new MathLib());
        LoadState.install(lua);
        LuaC.install(lua);
        lua.set("unpack", lua.get("table").get("unpack"));
        LuaTable redis = new LuaTable();
        redis.set("call", new VarArgFunction() {
            @Override
            public Varargs invoke(Varargs arguments) {
                return callFromScript(arguments);
            }
        });
        redis.set("error_reply", new OneArgFunction() {
            @Override
            public LuaValue call(LuaValue message) {
                LuaTable error = new LuaTable();
                error.set("err", message);
                return error;
            }
        });
        redis.set("sha1hex", new OneArgFunction() {
            @Override
            public LuaValue call(LuaValue text) {
                return LuaValue.valueOf(Script.sha1(text.checkjstring()));
            }
        });
        lua.set("redis", redis);
        lua.set("cmsgpack", MessagePack.library());
        lua.get("string").set("format", new VarArgFunction() {
            @Override
            public Varargs invoke(Varargs arguments) { // LuaJ ignores the precision
                Object[] numbers = new Object[arguments.narg() - 1];
                for (int i = 0; i < numbers.length; i++) {
                    numbers[i] = arguments.checkdouble(i + 2);
                }
                return LuaValue.valueOf(String.format(arguments.checkjstring(1), numbers));
            }
        });
    }

    /** Whether {@code maxmemory} is reached. */
    void fill(boolean full) {
        isFull = full;
        isLimited = full;
    }

    /**
     * Runs a script, as EVAL does.
     *
     * @return a {@link String}, a {@link Long}, a {@link List} of these, or null
     * @throws RedisError the script's or a command's error; what it wrote before stays
     */
    @Nullable
    Object eval(String text, List<String> names, List<String> arguments) {
        boolean mayFill = text.startsWith("#!lua flags=allow-oom");
        LuaValue script = compiled.computeIfAbsent(text, source -> new LuaClosure(prototype(source), lua));
        lua.set("KEYS", list(names));
        lua.set("ARGV", list(arguments));
        isLimited = isFull && !mayFill;
        try {
            return reply(script.call());
        } catch (LuaError failed) {
            if (failed.getCause() instanceof RedisError error) {
                throw error;
            }
            throw new RedisError("ERR " + failed.getMessage());
        } finally {
            isLimited = isFull;
        }
    }

    /** A script of a generation differs from others of its name in three words, so it is compiled once with their places. */
    private Prototype prototype(String text) {
        Matcher generation = GENERATION.matcher(text);
        if (!generation.find()) {
            return compile(text);
        }
        String stamp = generation.group(1);
        String epoch = stamp.substring(stamp.lastIndexOf(':') + 1, stamp.lastIndexOf('-'));
        Matcher lineage = LINEAGE.matcher(text);
        String history = lineage.find() ? lineage.group(1) : "";
        String common = text.replace(stamp, "@generation@").replace("'" + epoch + "-", "'@epoch@-");
        common = LINEAGE.matcher(common).replaceFirst("master_replid:@replid@'");
        return filled(
                COMPILED.computeIfAbsent(common, this::compile),
                word -> word.replace("@generation@", stamp)
                        .replace("@epoch@", epoch)
                        .replace("@replid@", history));
    }

    /** A copy with other words in its texts. */
    private static Prototype filled(Prototype common, UnaryOperator<String> words) {
        Prototype own = new Prototype();
        own.source = common.source;
        own.code = common.code;
        own.lineinfo = common.lineinfo;
        own.linedefined = common.linedefined;
        own.lastlinedefined = common.lastlinedefined;
        own.locvars = common.locvars;
        own.upvalues = common.upvalues;
        own.numparams = common.numparams;
        own.is_vararg = common.is_vararg;
        own.maxstacksize = common.maxstacksize;
        own.k = common.k.clone();
        for (int i = 0; i < own.k.length; i++) {
            if (own.k[i] instanceof LuaString text && java(text).contains("@")) {
                own.k[i] = lua(words.apply(java(text)));
            }
        }
        own.p = common.p.clone();
        for (int i = 0; i < own.p.length; i++) {
            own.p[i] = filled(own.p[i], words);
        }
        return own;
    }

    private Prototype compile(String source) {
        try {
            return lua.compilePrototype(new StringReader(source.startsWith("#!") ? "--" + source : source), "script");
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    private static LuaTable list(List<String> texts) {
        LuaTable table = new LuaTable(texts.size(), 0);
        for (int i = 0; i < texts.size(); i++) {
            table.set(i + 1, lua(texts.get(i)));
        }
        return table;
    }

    private static LuaString lua(String bytes) {
        return LuaString.valueOf(bytes.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String java(LuaString text) {
        return new String(text.m_bytes, text.m_offset, text.m_length, StandardCharsets.ISO_8859_1);
    }

    private static @Nullable Object reply(LuaValue value) {
        if (value instanceof LuaString text) {
            return java(text);
        } else if (value.isnumber()) {
            return value.tolong();
        } else if (value.istable()) {
            if (!value.get("err").isnil()) {
                throw new RedisError(value.get("err").tojstring());
            }
            List<@Nullable Object> replies = new ArrayList<>();
            for (int i = 1; !value.get(i).isnil(); i++) {
                replies.add(reply(value.get(i)));
            }
            return replies;
        }
        return value.toboolean() ? 1L : null;
    }

    private Varargs callFromScript(Varargs arguments) {
        List<String> command = new ArrayList<>();
        for (int i = 1; i <= arguments.narg(); i++) {
            LuaValue argument = arguments.arg(i);
            command.add(argument instanceof LuaString text ? java(text) : number(argument.checkdouble()));
        }
        try {
            return value(call(command));
        } catch (RedisError error) {
            throw new LuaError(error);
        }
    }

    private static LuaValue value(@Nullable Object reply) {
        if (reply instanceof Long number) {
            return LuaValue.valueOf(number.doubleValue());
        } else if (reply instanceof String text) {
            return lua(text);
        } else if (reply instanceof List<?> replies) {
            LuaTable table = new LuaTable(replies.size(), 0);
            for (int i = 0; i < replies.size(); i++) {
                table.set(i + 1, value(replies.get(i)));
            }
            return table;
        }
        return LuaValue.FALSE;
    }

    /**
     * Runs a command.
     *
     * @return as {@link #eval}
     * @throws RedisError an error reply; nothing is changed
     */
    @Nullable
    Object call(List<String> command) {
        String key = command.get(1);
        List<String> rest = command.subList(2, command.size());
        return switch (command.get(0)) {
            case "INFO" -> "master_replid:" + replid + "\r\nlazyfree_pending_objects:0\r\n";
            case "EXISTS" -> keys.containsKey(key) ? 1L : 0L;
            case "DEL" -> keys.remove(key) == null ? 0L : 1L;
            case "UNLINK" ->
                command.stream()
                        .skip(1)
                        .filter(each -> keys.remove(each) != null)
                        .count();
            case "TYPE" -> type(keys.get(key));
            case "GET" -> held(key, String.class, null);
            case "SET" -> { // SET key value NX
                if (keys.containsKey(key)) {
                    yield null;
                }
                writable(key, String.class, rest.get(0));
                yield "OK";
            }
            case "RENAMENX" -> {
                Object value = keys.get(key);
                if (value == null) {
                    throw new RedisError("ERR no such key");
                }
                if (keys.putIfAbsent(rest.get(0), value) != null) {
                    yield 0L;
                }
                keys.remove(key);
                yield 1L;
            }
            case "SCAN" -> // SCAN 0 MATCH prefix* COUNT n, in one page
                List.of(
                        "0",
                        keys.keySet().stream()
                                .filter(each -> each.startsWith(
                                        rest.get(1).substring(0, rest.get(1).length() - 1)))
                                .toList());
            case "HLEN" -> (long) held(key, Map.class, Map.of()).size();
            case "HEXISTS" -> held(key, Map.class, Map.of()).containsKey(rest.get(0)) ? 1L : 0L;
            case "XTRIM" -> (long) trim(key, rest.get(2)); // XTRIM key MINID = id
            case "XINFO" -> info(rest.get(0)); // XINFO STREAM key
            case "HGET" -> held(key, Map.class, Map.of()).get(rest.get(0));
            case "HMGET" -> {
                Map<?, ?> hash = held(key, Map.class, Map.of());
                List<@Nullable Object> values = new ArrayList<>();
                rest.forEach(field -> values.add(hash.get(field)));
                yield values;
            }
            case "HSET" -> set(writable(key, Map.class, new LinkedHashMap<String, String>()), rest);
            case "HSETNX" -> {
                Map<String, String> hash = writable(key, Map.class, new LinkedHashMap<String, String>());
                yield hash.putIfAbsent(rest.get(0), rest.get(1)) == null ? 1L : 0L;
            }
            case "XADD" -> add(key, rest);
            case "XLEN" -> (long) held(key, Stream.class, new Stream()).entries.size();
            case "XRANGE" -> entries(key, rest);
            case "ZADD" -> {
                boolean onlyGreater = rest.get(0).equals("GT");
                Map<String, Double> scores = writable(key, SortedSet.class, new SortedSet()).scores;
                long added = 0;
                for (int i = onlyGreater ? 1 : 0; i < rest.size(); i += 2) {
                    double score = parsed(rest.get(i));
                    Double before = scores.get(rest.get(i + 1));
                    added += before == null ? 1 : 0;
                    scores.put(rest.get(i + 1), before != null && onlyGreater ? Math.max(before, score) : score);
                }
                yield added;
            }
            case "ZSCORE" ->
                text(held(key, SortedSet.class, new SortedSet()).scores.get(rest.get(0)));
            case "ZMSCORE" -> {
                Map<String, Double> scores = held(key, SortedSet.class, new SortedSet()).scores;
                List<@Nullable Object> values = new ArrayList<>();
                rest.forEach(member -> values.add(text(scores.get(member))));
                yield values;
            }
            case "ZCOUNT" ->
                (long) held(key, SortedSet.class, new SortedSet())
                        .between(Bound.of(rest.get(0)), Bound.of(rest.get(1)))
                        .size();
            case "ZRANGE" ->
                held(key, SortedSet.class, new SortedSet()).between(Bound.LOWEST, Bound.HIGHEST).stream()
                        .<Object>map(Map.Entry::getKey)
                        .toList();
            case "ZRANGEBYSCORE" -> range(key, rest);
            case "ZREM" -> removed(key, rest);
            case "ZREMRANGEBYSCORE" ->
                removed(
                        key,
                        held(key, SortedSet.class, new SortedSet())
                                .between(Bound.of(rest.get(0)), Bound.of(rest.get(1)))
                                .stream()
                                .map(Map.Entry::getKey)
                                .toList());
            default -> throw new IllegalArgumentException("not modelled: " + command);
        };
    }

    private static <T> T typed(Object value, Class<T> type) {
        if (!type.isInstance(value)) {
            throw new RedisError(WRONG_TYPE);
        }
        return type.cast(value);
    }

    private <T> T held(String key, Class<T> type, T none) {
        Object value = keys.get(key);
        return value == null ? none : typed(value, type);
    }

    /** A full Redis refuses a script's first write. Once a script has written, its other writes pass. */
    private <T> T writable(String key, Class<T> type, T empty) {
        if (isLimited) {
            throw new RedisError("OOM command not allowed when used memory > 'maxmemory'");
        }
        writes++;
        return typed(keys.computeIfAbsent(key, absent -> empty), type);
    }

    private static long set(Map<String, String> hash, List<String> fields) {
        long added = 0;
        for (int i = 0; i < fields.size(); i += 2) {
            added += hash.put(fields.get(i), fields.get(i + 1)) == null ? 1 : 0;
        }
        return added;
    }

    /** XADD key [NOMKSTREAM] id field value …, with an id such as {@code 7-*} or {@code 7-0}. */
    private @Nullable String add(String key, List<String> rest) {
        boolean mustBe = rest.get(0).equals("NOMKSTREAM");
        if (isLimited) {
            writable(key, Object.class, "");
        }
        if (mustBe && !keys.containsKey(key)) {
            return null;
        }
        List<String> named = mustBe ? rest.subList(1, rest.size()) : rest;
        Stream stream = held(key, Stream.class, new Stream());
        String[] asked = named.get(0).split("-", 2);
        long first = Long.parseLong(asked[0]);
        EntryId id = asked[1].equals("*")
                ? new EntryId(first, first == stream.last.first ? stream.last.second + 1 : 0)
                : EntryId.of(named.get(0));
        if (id.compareTo(stream.last) <= 0) {
            throw new RedisError("ERR The ID specified in XADD is equal or smaller than the target stream top item");
        }
        stream.entries.put(id, List.copyOf(named.subList(1, named.size())));
        writes++;
        stream.last = id;
        stream.added++;
        keys.put(key, stream);
        return id.toString();
    }

    private static String type(@Nullable Object value) {
        return value == null
                ? "none"
                : value instanceof Map
                        ? "hash"
                        : value instanceof Stream ? "stream" : value instanceof String ? "string" : "zset";
    }

    /** Trims a journal up to an entry, which stays; XTRIM MINID. Returns the number of entries that are gone. */
    int trim(String key, String id) {
        Map<EntryId, List<String>> older =
                held(key, Stream.class, new Stream()).entries.headMap(EntryId.of(id), false);
        int trimmed = older.size();
        older.clear();
        return trimmed;
    }

    /** XRANGE key from to [COUNT n]: an id with an open bound, an id, or the first part of one for all entries with it. */
    private List<Object> entries(String key, List<String> rest) {
        String from = rest.get(0);
        String to = rest.get(1);
        boolean isOpen = from.startsWith("(");
        EntryId last = to.contains("-") ? EntryId.of(to) : new EntryId(Long.parseLong(to), Long.MAX_VALUE);
        EntryId first = EntryId.of(isOpen ? from.substring(1) : from);
        return held(key, Stream.class, new Stream())
                .entries
                .subMap(first, !isOpen, last.compareTo(first) < 0 ? first : last, true)
                .entrySet()
                .stream()
                .limit(rest.size() == 4 ? Long.parseLong(rest.get(3)) : Long.MAX_VALUE)
                .<Object>map(entry -> List.of(entry.getKey().toString(), entry.getValue()))
                .toList();
    }

    /** XINFO STREAM, in part. */
    private List<Object> info(String key) {
        if (!keys.containsKey(key)) {
            throw new RedisError("ERR no such key");
        }
        Stream stream = typed(keys.get(key), Stream.class);
        return List.of(
                "length",
                (long) stream.entries.size(),
                "last-generated-id",
                stream.last.toString(),
                "entries-added",
                stream.added);
    }

    /** Everything that it holds, for {@link #restore}. */
    RedisModel copy() {
        RedisModel copy = new RedisModel();
        copy.restore(this);
        return copy;
    }

    /** Holds from now on what another one holds; as a snapshot does. */
    void restore(RedisModel other) {
        keys.clear();
        other.keys.forEach((key, value) -> keys.put(key, copy(value)));
    }

    private static Object copy(Object value) {
        if (value instanceof Map<?, ?> hash) {
            return new LinkedHashMap<>(hash);
        } else if (value instanceof Stream stream) {
            Stream copy = new Stream();
            copy.entries.putAll(stream.entries);
            copy.last = stream.last;
            copy.added = stream.added;
            return copy;
        } else if (value instanceof SortedSet set) {
            SortedSet copy = new SortedSet();
            copy.scores.putAll(set.scores);
            return copy;
        }
        return value;
    }

    long writes() {
        return writes;
    }

    boolean has(String key) {
        return keys.containsKey(key);
    }

    List<String> names() {
        return List.copyOf(keys.keySet());
    }

    /** FLUSHALL. */
    void clear() {
        keys.clear();
    }

    private List<Object> range(String key, List<String> rest) {
        List<Object> found = new ArrayList<>();
        int limit = rest.indexOf("LIMIT");
        held(key, SortedSet.class, new SortedSet()).between(Bound.of(rest.get(0)), Bound.of(rest.get(1))).stream()
                .skip(limit < 0 ? 0 : Long.parseLong(rest.get(limit + 1)))
                .limit(limit < 0 ? Long.MAX_VALUE : Long.parseLong(rest.get(limit + 2)))
                .forEach(entry -> {
                    found.add(entry.getKey());
                    if (rest.contains("WITHSCORES")) {
                        found.add(number(entry.getValue()));
                    }
                });
        return found;
    }

    private long removed(String key, List<String> members) {
        Map<String, Double> scores = held(key, SortedSet.class, new SortedSet()).scores;
        long removed = members.stream().filter(scores.keySet()::remove).count();
        if (scores.isEmpty()) {
            keys.remove(key);
        }
        return removed;
    }

    private static double parsed(String text) {
        return switch (text) {
            case "+inf", "inf" -> Double.POSITIVE_INFINITY;
            case "-inf" -> Double.NEGATIVE_INFINITY;
            default -> Double.parseDouble(text);
        };
    }

    private static @Nullable String text(@Nullable Double score) {
        return score == null ? null : number(score);
    }

    /** As Redis prints a double: {@code %.17g}. */
    private static String number(double value) {
        if (Double.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        }
        return value == Math.rint(value) && Math.abs(value) < 1e17
                ? Long.toString((long) value)
                : Double.toString(value);
    }

    /** Every key with what it holds, in texts that can be compared. */
    Map<String, String> dump() {
        Map<String, String> all = new TreeMap<>();
        keys.forEach((key, value) -> {
            if (value instanceof Map<?, ?> hash) {
                all.put(key, new TreeMap<>(hash).toString());
            } else if (value instanceof SortedSet set) {
                all.put(
                        key,
                        set.between(Bound.LOWEST, Bound.HIGHEST).stream()
                                .map(entry -> entry.getKey() + "=" + number(entry.getValue()))
                                .collect(Collectors.joining(" ")));
            } else if (value instanceof Stream stream) {
                all.put(key, stream.entries.toString());
            }
        });
        return all;
    }
}
