import type { SpaceClient } from './space-client.ts'

/**
 * Compares all keys of a client, including absent ones: as ranges, in one request for many keys, and singly in growing
 * length.
 */
export async function verify(client: SpaceClient): Promise<void> {
  for (const output of ['ndjson', 'chunks', 'keys', 'count'] as const) await client.perform(client.all(output))
  await client.perform({ ...client.all('ndjson'), reverse: true })
  const growing = allKeys(client)
  await client.perform({ type: 'get-many', ids: growing.toReversed() })
  const connection = client.connection()
  const read = (key: string) => ({ type: 'get', key }) as const
  for (let i = 0; i < growing.length; i += 16) await client.pipeline(growing.slice(i, i + 16).map(read), connection)
}

/** Reads each key, longest first. */
export async function verifyShrinking(client: SpaceClient): Promise<void> {
  for (const key of allKeys(client).toReversed()) await client.perform({ type: 'get', key })
}

function allKeys(client: SpaceClient): string[] {
  const keys = [...new Set([...client.keyPool, ...client.context.space.keys])]
  return keys.sort((a, b) => Buffer.byteLength(a) - Buffer.byteLength(b))
}
