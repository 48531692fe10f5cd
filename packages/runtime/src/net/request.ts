/** Header fields of a request: names in lower case, each at most once. `content-length` may be missing. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>

/**
 * Effect of a route on the service's state. It decides which clients may call the route. `read` and `change` require
 * the token for reads or changes, if there is one. `host` requires only that the request names a served host. `open`
 * does not even require that, because probes name the service by its address.
 */
export type Access = 'open' | 'host' | 'read' | 'change'

/** Headers that may contain a token. */
export interface BearerHeaders {
  readonly authorization?: string | string[] | undefined
}

/** Returns the token of a request, valid or not. */
export function parseBearer({ authorization }: BearerHeaders): string | undefined {
  return /^Bearer +(\S+)$/i.exec(String(authorization ?? ''))?.[1]
}
