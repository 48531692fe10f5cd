<?php
// symfony/mercure and symfony/http-client. Arguments: `read URL TOPIC...` or `send URL TOPIC DATA [private|public [ID]]`, as
// in client-program.ts; `cookie URL TOPIC` prints the cookie of a reader of private updates.
require_once '/usr/share/php/Symfony/Component/Mercure/autoload.php';
require_once '/usr/share/php/Symfony/Component/HttpClient/autoload.php';
require_once '/usr/share/php/Symfony/Component/HttpFoundation/autoload.php';

use Symfony\Component\HttpClient\Chunk\ServerSentEvent;
use Symfony\Component\HttpClient\EventSourceHttpClient;
use Symfony\Component\HttpClient\HttpClient;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\Mercure\Authorization;
use Symfony\Component\Mercure\Hub;
use Symfony\Component\Mercure\HubRegistry;
use Symfony\Component\Mercure\Jwt\FactoryTokenProvider;
use Symfony\Component\Mercure\Jwt\StaticTokenProvider;
use Symfony\Component\Mercure\Jwt\TokenFactoryInterface;
use Symfony\Component\Mercure\Update;
use Symfony\Contracts\HttpClient\Exception\TransportExceptionInterface;

// Debian has no package of lcobucci/jwt, which symfony/mercure otherwise uses for this.
final class TokenFactory implements TokenFactoryInterface
{
    public function create(?array $subscribe = [], ?array $publish = [], array $claims = []): string
    {
        $encode = fn (string $text): string => rtrim(strtr(base64_encode($text), '+/', '-_'), '=');
        $claims['mercure'] = ['publish' => $publish, 'subscribe' => $subscribe];
        if (isset($claims['exp'])) {
            $claims['exp'] = $claims['exp']->getTimestamp();
        }
        $signed = $encode('{"typ":"JWT","alg":"HS256"}').'.'.$encode(json_encode($claims));

        return $signed.'.'.$encode(hash_hmac('sha256', $signed, getenv('MERCURE_JWT_SECRET'), true));
    }
}

function printLine(array $value): void
{
    echo json_encode($value, \JSON_THROW_ON_ERROR | \JSON_UNESCAPED_UNICODE | \JSON_UNESCAPED_SLASHES)."\n";
}

function createHub(string $url): Hub
{
    $factory = new TokenFactory();
    $jwt = getenv('MERCURE_JWT');

    return new Hub($url, $jwt ? new StaticTokenProvider($jwt) : new FactoryTokenProvider($factory, [], ['*']), $factory);
}

function read(string $url, array $topics): void
{
    $url .= '?'.implode('&', array_map(fn (string $topic): string => 'topic='.rawurlencode($topic), $topics));
    // EventSourceHttpClient 5.4 resumes after a lost connection, but not after a clean end. If the server then refuses the
    // new connection, it tries again without the header `Last-Event-ID`, and fails at the first event. So the id of a new
    // connection is in the query.
    $name = str_contains($url, '/.well-known/mercure') ? 'lastEventID' : 'lastEventId';
    $client = new EventSourceHttpClient(null, 0.1);
    $id = '';
    while (true) {
        try {
            $source = $client->connect('' === $id ? $url : $url."&$name=".rawurlencode($id));
            foreach ($client->stream($source, 2) as $chunk) {
                if (!$chunk->isTimeout() && $chunk instanceof ServerSentEvent) {
                    $id = $chunk->getId();
                    printLine(['id' => $id, 'event' => $chunk->getType(), 'data' => $chunk->getData()]);
                }
            }
        } catch (LogicException|TransportExceptionInterface $exception) {
            fwrite(\STDERR, $exception->getMessage()."\n");
        }
        try {
            unset($source);
        } catch (LogicException|TransportExceptionInterface) {
        }
        usleep(100_000);
    }
}

function send(string $url, string $topic, string $data, string $access = 'public', ?string $id = null): void
{
    if (!str_ends_with($url, '/put')) {
        $id = createHub($url)->publish(new Update($topic, $data, 'private' === $access, $id));
    } else {
        $client = HttpClient::create(['auth_bearer' => getenv('MERCURE_JWT')]);
        $reply = $client->request('POST', $url, ['query' => ['topic' => $topic], 'body' => $data]);
        $id = $reply->getHeaders()['event-id'][0];
    }
    printLine(['id' => $id]);
}

function printCookie(string $url, string $topic): void
{
    $cookie = (new Authorization(new HubRegistry(createHub($url))))->createCookie(Request::create($url), [$topic]);
    printLine(['name' => $cookie->getName(), 'value' => $cookie->getValue(), 'path' => $cookie->getPath()]);
}

[, $command, $url] = $argv;
$rest = array_slice($argv, 3);
match ($command) {
    'read' => read($url, $rest),
    'send' => send($url, ...$rest),
    'cookie' => printCookie($url, ...$rest),
};
