/**
 * Profiles: users' names and pictures, given by the host application.
 *
 * <p>Life of a profile: the host sets it by a call, or in its users' tokens. A call has precedence. The profile is stored, cached on each
 * server for some seconds, and added to answers and events. The host may delete it.
 *
 * <p>Callers: {@code web} and {@code feed}, through {@code Profiles}, which all event loops of a server share. Thread-safe.
 *
 * <p>Invariants: profiles change only what is shown. A missing profile or an absent Postgres shows the user's id, never an error. No other
 * system is asked.
 *
 * <p>Begin with {@code Profiles}.
 */
@NullMarked
package dev.hongbao.domain.profile;

import org.jspecify.annotations.NullMarked;
