import { gzipSync } from 'node:zlib'
import { parseJson, type Json } from './json-text.ts'

/** A request as a test repeats it. */
export interface OracleRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly type?: string
  readonly body?: string
  /** True if the body is sent compressed. */
  readonly isCompressed?: boolean
}

export interface OracleResponse {
  readonly status: number
  readonly text: string
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** Returns the command that sends a request. */
export function toCurl({ method, path, type, body, isCompressed }: OracleRequest): string {
  const data =
    body === undefined ? '' : ` -H 'content-type: ${type}' --data-binary ${isCompressed ? '@-' : quote(body)}`
  const compress = isCompressed ? `printf %s ${quote(body!)} | gzip | ` : ''
  return `${compress}curl -sX${method} "$S"${quote(path)}${isCompressed ? " -H 'content-encoding: gzip'" : ''}${data}`
}

/** Sends a request. @throws TypeError if the service ends first */
export async function send(
  url: string,
  { method, path, type, body, isCompressed }: OracleRequest,
): Promise<OracleResponse> {
  const headers = { ...(type && { 'content-type': type }), ...(isCompressed && { 'content-encoding': 'gzip' }) }
  const init = { method, headers, ...(body !== undefined && { body: isCompressed ? gzipSync(body) : body }) }
  const reply = await fetch(url + path, init)
  return { status: reply.status, text: await reply.text() }
}

/** Parses a reply with one JSON value per line. */
export const parseLines = (text: string): Json[] => text.split('\n').filter(Boolean).map(parseJson)
