import { createMercureClient } from './mercure-client.ts'
import { MERCURE, signAll } from './sign-tokens.ts'
import { startSse } from './test-sse.ts'

/** Starts a hub; returns it with its client and a token that allows everything. */
export async function startHub(settings: Record<string, string | number> = {}) {
  const sse = await startSse({ ...MERCURE, mercureAnonymous: 'on', ...settings })
  return { sse, token: await signAll(), ...createMercureClient(sse) }
}
