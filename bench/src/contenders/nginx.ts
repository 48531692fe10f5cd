import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@influencer-stats/runtime/testing/free-port'
import { PINS, spawnPinned } from '../processes.ts'
import type { Contender } from './contender.ts'

export const nginxAvailable = (): boolean => spawnSync('nginx', ['-v']).status === 0

// Started by root, nginx serves as nobody, who may not read a temporary folder.
const USER = process.getuid?.() === 0 ? 'user root;' : ''

/** Keeps what is known of files open and their size: else nginx opens and stats them for each request. */
const OPEN_FILES = 'open_file_cache max=16; open_file_cache_valid 60s; open_file_cache_min_uses 1;'

const configOf = (folder: string, port: number, more: string) => `
${USER}
daemon off;
pid ${folder}/nginx.pid;
error_log stderr error;
worker_processes 1;
events { worker_connections 2048; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 100000000;
  default_type application/json;
  ${more}
  client_body_temp_path ${folder}/tmp;
  proxy_temp_path ${folder}/tmp;
  fastcgi_temp_path ${folder}/tmp;
  uwsgi_temp_path ${folder}/tmp;
  scgi_temp_path ${folder}/tmp;
  server { listen 127.0.0.1:${port}; location / { root ${folder}/www; try_files /reply.json =404; } }
}
`

/** nginx with one worker and the same body in a file: the physical limit of a static reply. */
export function nginxContender(body: string, { keepsOpen = false } = {}): Contender {
  return {
    name: keepsOpen ? 'nginx with open_file_cache' : 'nginx static file',
    async start() {
      const folder = mkdtempSync(join(tmpdir(), 'influencer-stats-nginx-'))
      const port = await freePort()
      mkdirSync(join(folder, 'www'))
      writeFileSync(join(folder, 'www', 'reply.json'), body)
      writeFileSync(join(folder, 'nginx.conf'), configOf(folder, port, keepsOpen ? OPEN_FILES : ''))
      const child = spawnPinned(PINS.server, 'nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')])
      const exit = once(child, 'exit')
      const url = `http://127.0.0.1:${port}`
      while (!(await fetch(url).catch(() => undefined))) {
        if (child.exitCode !== null) throw new Error('nginx did not start')
        await delay(20)
      }
      async function stop(): Promise<void> {
        child.kill('SIGQUIT')
        await exit
        rmSync(folder, { recursive: true })
      }
      return { url, pid: workerOf(child.pid!), stop }
    },
  }
}

/** nginx serves from a child of the process that was started. */
function workerOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0])
}
