import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchTarget } from './target.ts'
import { createProgramTarget } from './program.ts'

// If root starts nginx, it serves as the user `nobody`, which may not read the temporary folder.
const USER = process.getuid?.() === 0 ? 'user root;' : ''
const TEMPORARY_PATHS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

const buildConfig = (folder: string, http: string, modules: string) => `${modules}
${USER}
daemon off;
pid ${folder}/nginx.pid;
error_log stderr error;
worker_processes 1;
worker_rlimit_nofile 60000;
events { worker_connections 30000; }
http {
  access_log off;
  keepalive_requests 100000000;
  default_type application/json;
  ${TEMPORARY_PATHS.map((name) => `${name}_temp_path ${folder}/tmp;`).join(' ')}
  ${http}
}
`

/** Returns the pid of the worker, a child of the started process, which serves requests. */
const findWorkerPid = (pid: number): number | undefined =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]) || undefined

const createTarget = (
  name: string,
  http: (folder: string, port: number) => string,
  body = '',
  module = '',
): BenchTarget =>
  createProgramTarget({
    name,
    command: 'nginx',
    needs: ['nginx', ...(module ? [module] : [])],
    args: (folder) => ['-p', folder, '-c', join(folder, 'nginx.conf')],
    files: (folder, port) => ({
      'www/reply.json': body,
      'nginx.conf': buildConfig(folder, http(folder, port), module && `load_module ${module};`),
    }),
    findServingPid: findWorkerPid,
  })

/** Settings of the cache of open files. Without it nginx opens the file for each request and reads its size. */
const OPEN_FILE_CACHE = 'open_file_cache max=16; open_file_cache_valid 60s; open_file_cache_min_uses 1;'

/**
 * nginx with one worker, which sends a file with the same body.
 * @param cachesOpenFiles true for the cache of open files
 */
export const createNginxTarget = (body: string, { cachesOpenFiles = false } = {}): BenchTarget =>
  createTarget(
    cachesOpenFiles ? 'nginx with open_file_cache' : 'nginx static file',
    (folder, port) =>
      `sendfile on; tcp_nopush on; ${cachesOpenFiles ? OPEN_FILE_CACHE : ''}
  server { listen 127.0.0.1:${port}; location / { root ${folder}/www; try_files /reply.json =404; } }`,
    body,
  )

const NCHAN = `${process.env.NGINX_MODULES ?? '/usr/lib/nginx/modules'}/ngx_nchan_module.so`

/** nginx with nchan and messages in memory, configured for EventSource as in its README. */
export const nchan: BenchTarget = createTarget(
  'nchan',
  (_folder, port) => `server { listen 127.0.0.1:${port};
  location = /wait { nchan_subscriber eventsource; nchan_channel_id all; nchan_subscriber_first_message newest; }
  location = /put { nchan_publisher; nchan_channel_id all; nchan_message_buffer_length 100; } }`,
  '',
  NCHAN,
)
