/**
 * What users are called and how they look, as the host application says: by a call, or in their tokens. Nothing is asked of other
 * systems, and nothing depends on it but what is shown. Shared by all event loops of a server.
 */
@NullMarked
package dev.hongbao.domain.profile;

import org.jspecify.annotations.NullMarked;
