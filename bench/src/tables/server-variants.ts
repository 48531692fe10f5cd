/** The default variant of each service, whose `raw` server adapter answers its hottest routes. */
export const RAW_VARIANTS = { stats: 'v8', kv: 'v5', prices: 'v8' } as const

/** The same with `node-http`. */
export const NODE_HTTP_VARIANTS = { stats: 'v7', kv: 'v4', prices: 'v6' } as const

/** Headers that a browser's fetch sends in addition to Host. */
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

/** Connections of the requests to all of them. */
export const CONNECTIONS = 16
