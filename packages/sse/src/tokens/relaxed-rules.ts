import type { Logger } from 'pino'
import type { SseConfig } from '../settings.ts'

/** The rules of the protocol that `--mercure-compatibility 8` relaxes. */
export const RELAXED_RULES = [
  'tokens need no type, issuer, audience or expiry; exp and nbf are enforced where present',
  'a token may be in the URL (authorization=), which proxies and browsers may log',
  'the cookie mercureAuthorization is accepted, although its name does not limit it to HTTPS',
  'a subscriber key and a publisher key replace the keys of an issuer',
] as const

/** Logs the rules that the mode of compatibility relaxes, one per line. */
export function reportRelaxedRules(
  { mercureCompatibility: compatibility }: SseConfig,
  log: Pick<Logger, 'warn'>,
): void {
  if (compatibility === '') return
  for (const rule of RELAXED_RULES) log.warn({ compatibility, rule }, 'Mercure compatibility relaxes a rule')
}
