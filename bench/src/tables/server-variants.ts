/** The default variant of each service, which has the server adapter `raw`. */
export const RAW_VARIANTS = { stats: 'v8', kv: 'v5', prices: 'v8' } as const

/** A variant of each service with the server adapter `node-http`. */
export const NODE_HTTP_VARIANTS = { stats: 'v7', kv: 'v4', prices: 'v6' } as const

/** Headers that `fetch` of a browser sends in addition to `Host`. */
export const BROWSER_HEADERS: Readonly<Record<string, string>> = {
  connection: 'keep-alive',
  'sec-ch-ua-platform': '"Linux"',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36',
  'sec-ch-ua': '"Chromium";v="148", "Google Chrome";v="148", "Not/A)Brand";v="99"',
  'sec-ch-ua-mobile': '?0',
  accept: '*/*',
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'cors',
  'sec-fetch-dest': 'empty',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'en-US,en;q=0.9',
}

/** Number of connections in tables of server adapters. */
export const CONNECTIONS = 16
