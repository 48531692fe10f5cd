import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import type { NetworkFault, FaultProxy } from './proxy.ts'

// The newest version that can be built with the Go of the current Debian.
const MODULE = 'github.com/Shopify/toxiproxy/v2/cmd/server@v2.5.0'
const FOLDER = fileURLToPath(new URL('../../../node_modules/.cache/toxiproxy', import.meta.url))
const PROGRAM = `${FOLDER}/server`

interface Toxic {
  readonly type: string
  readonly attributes: Readonly<Record<string, number>>
}

/** Toxiproxy's names and attributes for faults of replies. `down` needs no toxic, and `corrupt` is not supported. */
const TOXICS: { readonly [Kind in NetworkFault['kind']]?: (fault: Extract<NetworkFault, { kind: Kind }>) => Toxic } = {
  latency: ({ ms, jitter }) => ({ type: 'latency', attributes: { latency: ms, jitter } }),
  cut: ({ afterBytes, resets }): Toxic =>
    resets
      ? { type: 'reset_peer', attributes: { timeout: 0 } }
      : { type: 'limit_data', attributes: { bytes: afterBytes } },
  'slow-close': ({ ms }) => ({ type: 'slow_close', attributes: { delay: ms } }),
  'half-open': () => ({ type: 'timeout', attributes: { timeout: 0 } }),
  bandwidth: ({ bytesPerSecond }) => ({ type: 'bandwidth', attributes: { rate: Math.ceil(bytesPerSecond / 1_000) } }),
}

/** Starts toxiproxy, which is built with Go at its first use. @throws Error if it cannot be built */
export async function createToxiproxy(target: string): Promise<FaultProxy> {
  if (!existsSync(PROGRAM)) {
    const { status, stderr } = spawnSync('go', ['install', MODULE], {
      env: { ...process.env, GOBIN: FOLDER },
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`toxiproxy needs Go (golang-go): ${stderr ?? ''}`)
  }
  const [control, listen] = await Promise.all([findFreePort(), findFreePort()])
  const child = spawn(PROGRAM, ['-host', '127.0.0.1', '-port', String(control)], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  const send = async (method: string, path: string, body?: object) => {
    const reply = await fetch(`http://127.0.0.1:${control}${path}`, { method, body: body && JSON.stringify(body) })
    if (!reply.ok && reply.status !== 404) throw new Error(`toxiproxy: ${reply.status} ${await reply.text()}`)
  }
  await waitUntil(() =>
    send('GET', '/version').then(
      () => true,
      () => false,
    ),
  )
  const proxy = { name: 'target', listen: `127.0.0.1:${listen}`, upstream: new URL(target).host, enabled: true }
  await send('POST', '/proxies', proxy)

  return {
    url: `http://127.0.0.1:${listen}`,
    kinds: [...(Object.keys(TOXICS) as NetworkFault['kind'][]), 'down'],
    async set(fault) {
      await send('DELETE', '/proxies/target/toxics/fault')
      await send('POST', '/proxies/target', { ...proxy, enabled: fault?.kind !== 'down' })
      if (!fault || fault.kind === 'down') return
      const toToxic = TOXICS[fault.kind] as (fault: NetworkFault) => Toxic
      await send('POST', '/proxies/target/toxics', { name: 'fault', stream: 'downstream', ...toToxic(fault) })
    },
    async close() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
