<?php
// Publishes an update with symfony/mercure. Arguments: topic, data, `private` or `public`, id.
require_once '/usr/share/php/Symfony/Component/Mercure/autoload.php';
require_once '/usr/share/php/Symfony/Component/HttpClient/autoload.php';

use Symfony\Component\Mercure\Hub;
use Symfony\Component\Mercure\Jwt\FactoryTokenProvider;
use Symfony\Component\Mercure\Jwt\TokenFactoryInterface;
use Symfony\Component\Mercure\Update;

// Debian has no package of lcobucci/jwt, which symfony/mercure otherwise uses for this.
final class TokenFactory implements TokenFactoryInterface
{
    public function create(?array $subscribe = [], ?array $publish = [], array $claims = []): string
    {
        $encode = fn (string $text): string => rtrim(strtr(base64_encode($text), '+/', '-_'), '=');
        $claims['mercure'] = ['publish' => $publish, 'subscribe' => $subscribe];
        $signed = $encode('{"typ":"JWT","alg":"HS256"}').'.'.$encode(json_encode($claims));

        return $signed.'.'.$encode(hash_hmac('sha256', $signed, getenv('MERCURE_JWT_SECRET'), true));
    }
}

[, $topic, $data, $access, $id] = $argv;
$factory = new TokenFactory();
$hub = new Hub(getenv('MERCURE_URL'), new FactoryTokenProvider($factory, [], ['*']), $factory);
echo $hub->publish(new Update($topic, $data, 'private' === $access, $id));
