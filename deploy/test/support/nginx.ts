import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { startProxy } from './proxy.ts'

export const hasNginx = spawnSync('nginx', ['-v']).status === 0

/**
 * Runs nginx with a published configuration until the test ends. Replaces only its port, its upstreams and its
 * certificate.
 * @param name name of the configuration file in `deploy/proxy`
 * @param ports by service, the ports of all its processes
 * @param under command and arguments that run nginx
 * @returns the port of nginx
 */
export async function startNginx(
  name: string,
  ports: Readonly<Record<string, readonly number[]>>,
  under: readonly string[] = [],
): Promise<number> {
  const [folder, port] = [createTemporaryFolder(), await findFreePort()]
  const site = readFileSync(new URL(`../../proxy/${name}`, import.meta.url), 'utf8')
    .replace(/^ *listen .*;$/m, `listen 127.0.0.1:${port};`)
    .replaceAll(/^ *ssl_.*\n/gm, '')
    .replaceAll(/^upstream (\w+) \{ server \S+?( max_fails=0)?;.* keepalive/gm, (_, service: string, how = '') => {
      return `upstream ${service} { ${ports[service]!.map((one) => `server 127.0.0.1:${one}${how};`).join(' ')} keepalive`
    })
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  // The workers write large bodies to the folder of the test.
  const main = `daemon off; user ${userInfo().username}; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${temporary.join(' ')}\n${site}\n}`
  writeFileSync(join(folder, 'nginx.conf'), main)
  await startProxy([...under, 'nginx', '-p', folder, '-c', join(folder, 'nginx.conf')], port)
  return port
}
