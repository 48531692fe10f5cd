// Exits with 0 if the service at HEALTH_URL is ready. For images, which have no curl.
const reply = await fetch(process.env.HEALTH_URL ?? 'http://127.0.0.1:8080/readyz').catch(() => undefined)
process.exitCode = reply?.ok ? 0 : 1
