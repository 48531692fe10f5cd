import type { CommonSettings } from '../settings/settings.ts'

export type TlsSettings = Pick<CommonSettings, 'tlsCert' | 'tlsKey'>

/** True if a service uses TLS. */
export const isSecure = ({ tlsCert, tlsKey }: TlsSettings): boolean => tlsCert !== '' || tlsKey !== ''
