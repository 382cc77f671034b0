package dev.hongbao.config;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Declares a component of a record below {@link HongbaoConfig} as an option. File, environment, flags, documents, checks and
 * the record's value follow from this declaration, see {@link Option}.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
@interface ConfigOption {
    /** The name in the file, with dots between sections: {@code http.base-path}. */
    String path();

    /** The kind of value, when the component's type does not define it. */
    Kind kind() default Kind.OF_TYPE;

    /** The range of a number or duration: {@code "1 … 200 connections"}, {@code "1s … 1h"}. */
    String range() default "";

    /** The default, as written in the file. Empty for none: the component is null or an empty list. */
    String unset() default "";

    /** Another flag, beside the flag made from the path; empty for none. */
    String shortFlag() default "";

    /** Whether it is a constant, not an option of the server. Tests change it through {@link HongbaoConfig#of}. */
    boolean fixed() default false;

    /**
     * A sentence for operators: the effect, and the meaning of special values such as 0 or empty. For a constant, also the
     * reason for its value.
     */
    String doc();

    /** Kinds of value that share a Java type. */
    enum Kind {
        OF_TYPE,
        /** Choices in their own spelling; other enums are written in lower case. */
        AS_PRINTED,
        DIRECTORY,
        HOST,
        URL_PATH,
        ORIGINS,
        SECURE_ORIGINS,
        TEXT,
        LINE,
        NAME,
        REDIS_URL,
        POSTGRES_URL,
        WEB_URL
    }
}
