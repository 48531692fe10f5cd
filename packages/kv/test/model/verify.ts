import type { SpaceClient } from './space-client.ts'

/**
 * Compares all keys of a client, including absent ones: as ranges, in one request for many keys, and singly in growing
 * length.
 */
export async function verify(client: SpaceClient): Promise<void> {
  for (const output of ['ndjson', 'chunks', 'keys', 'count'] as const) await client.runOperation(client.readAll(output))
  await client.runOperation({ ...client.readAll('ndjson'), reverse: true })
  const growing = listKeys(client)
  await client.runOperation({ type: 'get-many', ids: growing.toReversed() })
  const connection = client.getConnection()
  const read = (key: string) => ({ type: 'get', key }) as const
  for (let i = 0; i < growing.length; i += 16) await client.runPipeline(growing.slice(i, i + 16).map(read), connection)
}

/** Reads each key, longest first. */
export async function verifyShrinking(client: SpaceClient): Promise<void> {
  for (const key of listKeys(client).toReversed()) await client.runOperation({ type: 'get', key })
}

function listKeys(client: SpaceClient): string[] {
  const keys = [...new Set([...client.keyPool, ...client.context.space.keys])]
  return keys.sort((a, b) => Buffer.byteLength(a) - Buffer.byteLength(b))
}
