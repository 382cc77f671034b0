package dev.hongbao.fairness;

import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Text;
import dev.hongbao.values.Uuids;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.DateTimeException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** An object of an evidence and its place. An invalid field throws {@link InvalidInputException}. */
record Fields(String place, JsonObject object) {
    private static final Pattern HEX_64 = Pattern.compile("[0-9a-f]{64}");

    InvalidInputException fault(String name, String detail) {
        return InvalidInputException.of(place + "/" + name, Text.plain(detail));
    }

    String text(String name) {
        if (object.getValue(name) instanceof String text) {
            return text;
        }
        throw fault(name, "must be a string");
    }

    @Nullable
    String textOrNull(String name) {
        return object.getValue(name) == null && object.containsKey(name) ? null : text(name);
    }

    long number(String name) {
        if (object.getValue(name) instanceof Long number) {
            return number;
        }
        throw fault(name, "must be a whole number");
    }

    boolean truth(String name) {
        if (object.getValue(name) instanceof Boolean truth) {
            return truth;
        }
        throw fault(name, "must be true or false");
    }

    int integer(String name) {
        long number = number(name);
        if (number != (int) number) {
            throw fault(name, "is out of range");
        }
        return (int) number;
    }

    <T> T parsed(String name, Function<String, T> parser) {
        try {
            return parser.apply(text(name));
        } catch (IllegalArgumentException | DateTimeException malformed) {
            throw fault(name, "cannot be: " + malformed.getMessage());
        }
    }

    UUID uuid(String name) {
        UUID id = Uuids.parse(text(name));
        if (id == null) {
            throw fault(name, "must be a UUID");
        }
        return id;
    }

    /** A seed or a digest. */
    String hex64(String name) {
        String hex = text(name);
        if (!HEX_64.matcher(hex).matches()) {
            throw fault(name, "must be 64 lower-case hexadecimal digits");
        }
        return hex;
    }

    /**
     * The seed of a closed subject.
     *
     * @param of the subject's kind
     * @param when the condition for publishing its seed
     */
    String seed(String of, String when) {
        if (textOrNull("seed") == null) {
            throw fault("seed", "is null: the " + of + " is not closed. It is published when " + when);
        }
        return hex64("seed");
    }

    Fields object(String name) {
        Fields found = objectOrNull(name);
        if (found == null) {
            throw fault(name, "must be an object");
        }
        return found;
    }

    @Nullable
    Fields objectOrNull(String name) {
        Object value = object.getValue(name);
        if (value == null && object.containsKey(name)) {
            return null;
        }
        if (value instanceof JsonObject found) {
            return new Fields(place + "/" + name, found);
        }
        throw fault(name, "must be an object");
    }

    List<Long> numbers(String name) {
        if (!(object.getValue(name) instanceof JsonArray items)) {
            throw fault(name, "must be an array");
        }
        List<Long> all = new ArrayList<>(items.size());
        for (Object item : items) {
            if (!(item instanceof Long number)) {
                throw fault(name, "must have whole numbers");
            }
            all.add(number);
        }
        return all;
    }

    List<Fields> objects(String name) {
        if (!(object.getValue(name) instanceof JsonArray items)) {
            throw fault(name, "must be an array");
        }
        List<Fields> all = new ArrayList<>(items.size());
        for (int i = 0; i < items.size(); i++) {
            if (!(items.getValue(i) instanceof JsonObject item)) {
                throw fault(name + "/" + i, "must be an object");
            }
            all.add(new Fields(place + "/" + name + "/" + i, item));
        }
        return all;
    }
}
