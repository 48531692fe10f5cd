import type { CommonSettings } from '../settings/settings.ts'

export type TlsSettings = Pick<CommonSettings, 'tlsCert' | 'tlsKey'>

/** Whether a service speaks TLS. */
export const isSecure = ({ tlsCert, tlsKey }: TlsSettings): boolean => tlsCert !== '' || tlsKey !== ''
