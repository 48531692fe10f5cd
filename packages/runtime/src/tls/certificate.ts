import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import { StartError } from '../errors/common-errors.ts'
import { registerGauge } from '../metrics/gauge.ts'
import type { Registry } from '../metrics/prom-client.ts'
import { watchContent } from '../settings/watch-content.ts'
import { isSecure, type TlsSettings } from './is-secure.ts'

/** A certificate and its private key (PEM). */
export interface KeyPair {
  /** The certificate and the certificates between it and a root. */
  readonly cert: string
  readonly key: string
}

/** The certificate of a running service. */
export interface Certificate {
  readonly pair: KeyPair
  /** Calls `onChange` with each new certificate. A certificate that cannot be used is logged once and ignored. */
  watch(log: Pick<Logger, 'info' | 'warn'>, onChange: (pair: KeyPair) => void): void
  /** Idempotent. */
  close(): void
}

const readPair = ({ tlsCert, tlsKey }: TlsSettings): KeyPair => ({
  cert: readFileSync(tlsCert, 'utf8'),
  key: readFileSync(tlsKey, 'utf8'),
})

/** @throws Error if the pair is not a certificate with its key */
function assertUsable(pair: KeyPair): void {
  // Loaded only if there is a certificate, because `node:tls` takes 3 MB.
  process.getBuiltinModule('node:tls').createSecureContext(pair)
}

const parseExpiry = ({ cert }: KeyPair): number => Date.parse(new X509Certificate(cert).validTo)

/** @throws Error if the new certificate has expired, and the present one has not */
function assertNotExpired(next: KeyPair, present: KeyPair): void {
  const expiry = parseExpiry(next)
  if (expiry <= Date.now() && expiry < parseExpiry(present))
    throw new Error(`it expired at ${new Date(expiry).toISOString()}`)
}

const explainError = (error: unknown) => {
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'EACCES' ? message : (code ?? message)
}

/**
 * Opens the certificate that the settings name. Undefined if they name none.
 * @throws StartError `TLS_WRONG`
 */
export function openCertificate(service: string, settings: TlsSettings, registry: Registry): Certificate | undefined {
  if (!isSecure(settings)) return undefined
  const refuse = (reason: string) => new StartError('TLS_WRONG', `${service}: ${reason}`)
  if (settings.tlsCert === '' || settings.tlsKey === '') throw refuse('--tls-cert and --tls-key require each other')
  let pair: KeyPair
  try {
    assertUsable((pair = readPair(settings)))
  } catch (error) {
    throw refuse(
      `--tls-cert ${settings.tlsCert} and --tls-key ${settings.tlsKey} cannot be used (${explainError(error)})`,
    )
  }
  registerGauge(
    registry,
    'tls_certificate_expiry_seconds',
    'Expiry time of the certificate in use, in seconds since 1970.',
    () => Math.floor(parseExpiry(pair) / 1_000),
  )
  let stop = () => {}

  return {
    get pair() {
      return pair
    },
    watch(log, onNewPair) {
      stop = watchContent({
        read: () => JSON.stringify(readPair(settings)),
        initial: JSON.stringify(pair),
        onChange(content) {
          const next: KeyPair = JSON.parse(content)
          // The files have the content of the certificate in use again.
          if (next.cert === pair.cert && next.key === pair.key) return
          assertUsable(next)
          assertNotExpired(next, pair)
          log.info({ file: settings.tlsCert }, 'the new certificate is in use')
          onNewPair((pair = next))
        },
        onFault(fault) {
          log.warn(
            { file: settings.tlsCert, reason: explainError(fault) },
            'the new certificate is invalid; the previous one remains in use',
          )
        },
      })
    },
    close: () => stop(),
  }
}
