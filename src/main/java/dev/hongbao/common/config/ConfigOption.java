package dev.hongbao.common.config;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes a component of a record below {@link HongbaoConfig} an option. This is the one place where it stands: file,
 * environment, flags, documents, checks and the record's value follow from it, see {@link Options}.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
@interface ConfigOption {
    /** Its name in the file, sections separated by dots: {@code http.base-path}. */
    String path();

    /** What kind of value it takes, where the component's type does not say so. */
    Kind kind() default Kind.OF_TYPE;

    /** Of numbers and durations: {@code "1 … 200 connections"}, {@code "1s … 1h"}. */
    String range() default "";

    /** The default, as it would be written in the file. Empty is none: the component is null, or an empty list. */
    String unset() default "";

    /** A further flag beside the one that is made from the path; empty for none. */
    String shortFlag() default "";

    /** A constant: no option of the server. Tests change it through {@link HongbaoConfig#of}. */
    boolean fixed() default false;

    /** For people: what it does, and what a special value such as 0 or empty means; of a constant also why it is so. */
    String doc();

    /** Values that are one Java type and differ all the same. */
    enum Kind {
        OF_TYPE,
        /** Choices as they print themselves; others are written in small letters. */
        AS_PRINTED,
        DIRECTORY,
        HOST,
        URL_PATH,
        ORIGINS,
        SECURE_ORIGINS,
        TEXT,
        LINE,
        WORD,
        NAME,
        REDIS_URL,
        POSTGRES_URL,
        WEB_URL
    }
}
