import { existsSync, readFileSync } from 'node:fs'
import { startMixedLoad, type LoadRequest } from '@influencer-stats/runtime/testing/mixed-load'

// A proxy that forwards a body as it arrives cannot send it again. nginx writes a body of 8 KiB to a file.
export const LARGE_VALUE = JSON.stringify('x'.repeat(7_000))

/** Creates requests to kv, with and without bodies. */
export function createKvRequest(number: number, client: number): LoadRequest {
  const path = `/v0/entity?id=k${client}`
  switch (number % 3) {
    case 0:
      return { method: 'PUT', path, headers: { 'content-type': 'text/plain' }, body: LARGE_VALUE }
    case 1:
      return {
        method: 'POST',
        path: '/v0/batch',
        headers: { 'content-type': 'application/x-ndjson' },
        body: `{"op":"put","id":"k${client}","value":"v"}\n`,
      }
    default:
      return { method: 'GET', path: '/v0/entities?start=k&end=l&limit=3' }
  }
}

// As a program: sends these requests to a port of this machine until SIGTERM, without retries, with the token of changes
// in a file if there is one. Prints the result as JSON.
if (import.meta.main) {
  const [port, tokenFile] = process.argv.slice(2)
  const token = tokenFile && existsSync(tokenFile) ? readFileSync(tokenFile, 'utf8').trim() : undefined
  const create = (number: number, client: number): LoadRequest => {
    const request = createKvRequest(number, client)
    return token ? { ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } } : request
  }
  const load = startMixedLoad({ port: Number(port), clients: 16, create })
  process.once('SIGTERM', load.stop)
  process.stdout.write(JSON.stringify(await load.done))
}
