import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startProxy } from './proxy.ts'

const CADDY = process.env.CADDY ?? 'caddy'

export const hasCaddy = spawnSync(CADDY, ['version']).status === 0

const PORTS: Record<string, string> = { 8080: 'stats', 8083: 'sse', 8084: 'prices' }

/**
 * Runs Caddy with the published configuration until the test ends. Replaces only its port, its upstreams and its
 * certificate.
 * @param ports port of each service
 * @param under command and arguments that run Caddy
 * @returns the port of Caddy
 */
export async function startCaddy(
  ports: Readonly<Record<string, number>>,
  under: readonly string[] = [],
): Promise<number> {
  const [folder, port] = [createTemporaryFolder(), await findFreePort()]
  const site = readFileSync(new URL('../../proxy/Caddyfile', import.meta.url), 'utf8')
    .replace(/^(stats\.example\.com) \{$/m, `http://$1:${port} {\n\tbind 127.0.0.1`)
    .replaceAll(/127\.0\.0\.1:(80\d\d)/g, (_, known: string) => `127.0.0.1:${ports[PORTS[known]!]}`)
  const file = join(folder, 'Caddyfile')
  writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${site}`)
  await startProxy([...under, CADDY, 'run', '--adapter', 'caddyfile', '--config', file], port, { HOME: folder })
  return port
}
