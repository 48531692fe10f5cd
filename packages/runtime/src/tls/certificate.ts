import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import { StartError } from '../http/errors.ts'
import { gauge } from '../metrics/gauge.ts'
import type { Registry } from '../metrics/prom-client.ts'
import { isSecure, type TlsSettings } from './is-secure.ts'

/** A certificate, with those between it and a root, and its key: PEM. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

/** The certificate of a service, as long as it runs. */
export interface Certificate {
  readonly pair: KeyPair
  /** Calls back with what comes in its place. What cannot be used stays unused, which is logged once. */
  watch(log: Pick<Logger, 'info' | 'warn'>, changed: (pair: KeyPair) => void): void
  /** Idempotent. */
  close(): void
}

// Tools that renew certificates rename, link or write: files are read, which needs no notice of any of it (ms).
const LOOK_EVERY = 500

const readPair = ({ tlsCert, tlsKey }: TlsSettings): KeyPair => ({
  cert: readFileSync(tlsCert, 'utf8'),
  key: readFileSync(tlsKey, 'utf8'),
})

/** @throws Error where it is no certificate with its key */
function check(pair: KeyPair): void {
  // Loaded by who has a certificate: 3 MB.
  process.getBuiltinModule('node:tls').createSecureContext(pair)
}

const reasonOf = (error: unknown) => {
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'EACCES' ? message : (code ?? message)
}

/**
 * Opens the certificate that the settings name; nothing where they name none.
 * @throws StartError `TLS_WRONG`
 */
export function openCertificate(service: string, settings: TlsSettings, registry: Registry): Certificate | undefined {
  if (!isSecure(settings)) return undefined
  const refuse = (reason: string) => new StartError('TLS_WRONG', `${service}: ${reason}`)
  if (settings.tlsCert === '' || settings.tlsKey === '') throw refuse('--tlsCert and --tlsKey go together')
  let pair: KeyPair
  try {
    check((pair = readPair(settings)))
  } catch (error) {
    throw refuse(`--tlsCert ${settings.tlsCert} and --tlsKey ${settings.tlsKey} cannot be used (${reasonOf(error)})`)
  }
  gauge(registry, 'tls_certificate_expiry_seconds', 'When the certificate that is used expires, since 1970.', () =>
    Math.floor(Date.parse(new X509Certificate(pair.cert).validTo) / 1_000),
  )
  let timer: NodeJS.Timeout | undefined
  /** What was read last, or why it could not be. */
  let seen = JSON.stringify(pair)

  /** What there is to use since the last time, if anything. @throws Error where that cannot be used, once */
  function renewed(): KeyPair | undefined {
    let next: KeyPair | Error
    try {
      next = readPair(settings)
    } catch (error) {
      next = error as Error
    }
    const now = next instanceof Error ? next.message : JSON.stringify(next)
    if (now === seen) return undefined
    seen = now
    if (next instanceof Error) throw next
    // Put back as it was.
    if (next.cert === pair.cert && next.key === pair.key) return undefined
    check(next)
    return next
  }

  return {
    get pair() {
      return pair
    },
    watch(log, changed) {
      timer = setInterval(() => {
        try {
          const next = renewed()
          if (!next) return
          log.info({ file: settings.tlsCert }, 'a new certificate is used')
          changed((pair = next))
        } catch (error) {
          log.warn({ file: settings.tlsCert, reason: reasonOf(error) }, 'the new certificate cannot be used')
        }
      }, LOOK_EVERY).unref()
    },
    close: () => clearInterval(timer),
  }
}
