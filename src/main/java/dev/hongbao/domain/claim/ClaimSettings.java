package dev.hongbao.domain.claim;

import dev.hongbao.engine.journal.AttemptSettings;
import java.time.Duration;

/**
 * The configured limits of claiming.
 *
 * @param slow the duration from which a claim is logged; 0 for none
 */
public record ClaimSettings(AttemptSettings attempts, Duration slow) {}
