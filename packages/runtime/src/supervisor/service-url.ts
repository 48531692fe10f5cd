import type { CommonSettings } from '../settings/settings.ts'
import { isSecure, type TlsSettings } from '../tls/is-secure.ts'

/** Returns the URL of a service on this machine. */
export const getServiceUrl = ({ host, port, ...tls }: Pick<CommonSettings, 'host' | 'port'> & TlsSettings): string => {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${isSecure(tls) ? 'https' : 'http'}://${name}:${port}`
}
