package dev.hongbao.values;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.regex.Pattern;

/** The URL of a picture: {@code https}, with a host, without user information, in visible ASCII. The server never fetches it. */
public record PictureUrl(String value) {
    /** In characters. */
    public static final int MAX_LENGTH = 500;

    /** The contract's pattern. It allows no quotes, so a valid URL is safe inside an attribute. */
    private static final Pattern FORM =
            Pattern.compile("https://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(/[!#$%&'()*+,./0-9:;=?@A-Z_a-z~-]*)?");

    /** @throws IllegalArgumentException for any other text */
    public PictureUrl {
        if (!isValid(value)) {
            throw new IllegalArgumentException("not the https URL of a picture");
        }
    }

    public static boolean isValid(String text) {
        if (text.length() > MAX_LENGTH || !FORM.matcher(text).matches()) {
            return false;
        }
        try {
            URI uri = new URI(text);
            return uri.getHost() != null && uri.getRawUserInfo() == null && uri.getPort() <= 65_535;
        } catch (URISyntaxException malformed) {
            return false;
        }
    }

    @Override
    public String toString() {
        return value;
    }
}
