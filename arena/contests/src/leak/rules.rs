//! The forms of secrets, as their vendors publish them.

use super::Severity;

/// One form of a secret.
#[derive(Debug)]
pub(super) struct Rule {
    /// Its stable name.
    pub(super) id: &'static str,
    /// At least one of these stands in every match, in any letter case.
    pub(super) keywords: &'static [&'static str],
    /// The form. The first group, or the whole match, is what has to look random.
    pub(super) pattern: &'static str,
    /// The least entropy of it, in thousandths of a bit per character.
    pub(super) entropy_min_millibits: u32,
    /// What a match means.
    pub(super) severity: Severity,
}

const fn vendor(id: &'static str, keywords: &'static [&'static str], pattern: &'static str) -> Rule {
    Rule { id, keywords, pattern, entropy_min_millibits: 2_500, severity: Severity::Block }
}

/// A form that proves itself by its words alone.
const fn literal(id: &'static str, keywords: &'static [&'static str], pattern: &'static str) -> Rule {
    Rule { id, keywords, pattern, entropy_min_millibits: 0, severity: Severity::Block }
}

const fn generic(id: &'static str, keywords: &'static [&'static str], pattern: &'static str) -> Rule {
    Rule { id, keywords, pattern, entropy_min_millibits: 3_300, severity: Severity::Review }
}

pub(super) const RULES: &[Rule] = &[
    vendor("arena_agent_key", &["ak_"], r"\bak_([A-Za-z0-9]{20,200})"),
    literal(
        "private_key_block",
        &["private key"],
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----",
    ),
    literal("putty_private_key", &["putty-user-key-file-"], r"PuTTY-User-Key-File-[0-9]: "),
    vendor("age_secret_key", &["age-secret-key-1"], r"(?i)AGE-SECRET-KEY-1([0-9A-Z]{58})"),
    vendor("aws_access_key_id", &["akia", "asia"], r"\b(?:AKIA|ASIA)([A-Z2-7]{16})\b"),
    vendor("github_token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"\bgh[pousr]_([A-Za-z0-9]{36,251})"),
    vendor("github_fine_grained_token", &["github_pat_"], r"\bgithub_pat_([A-Za-z0-9]{22}_[A-Za-z0-9]{59})"),
    vendor("gitlab_token", &["glpat-", "gldt-", "glrt-"], r"\bgl(?:pat|dt|rt)-([A-Za-z0-9_\-]{20,64})"),
    vendor(
        "slack_token",
        &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-"],
        r"\bxox[abeprs]-([A-Za-z0-9\-]{10,250})",
    ),
    vendor(
        "slack_webhook",
        &["hooks.slack.com"],
        r"hooks\.slack\.com/(?:services|workflows)/(T[A-Za-z0-9]{6,14}/[A-Za-z0-9/]{17,60})",
    ),
    vendor(
        "discord_webhook",
        &["/api/webhooks/"],
        r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/([A-Za-z0-9_\-]{60,72})",
    ),
    vendor("telegram_bot_token", &[":aa"], r"\b[0-9]{8,10}:(AA[A-Za-z0-9_\-]{33})\b"),
    vendor("stripe_key", &["sk_live_", "rk_live_"], r"\b[sr]k_live_([A-Za-z0-9]{16,250})"),
    vendor("google_api_key", &["aiza"], r"\bAIza([A-Za-z0-9_\-]{35})"),
    vendor("npm_token", &["npm_"], r"\bnpm_([A-Za-z0-9]{36})\b"),
    vendor("pypi_token", &["pypi-ageichlwas5vcmc"], r"\bpypi-AgEIcHlwaS5vcmc([A-Za-z0-9_\-]{50,250})"),
    vendor("crates_io_token", &["cio"], r"\bcio([A-Za-z0-9]{32})\b"),
    vendor(
        "openai_key",
        &["t3blbkfj"],
        r"\bsk-(?:[a-z]{2,12}-)?([A-Za-z0-9_\-]{20,100}T3BlbkFJ[A-Za-z0-9_\-]{20,100})",
    ),
    vendor("anthropic_key", &["sk-ant-"], r"\bsk-ant-[a-z0-9]{3,10}-([A-Za-z0-9_\-]{80,120})"),
    vendor("hugging_face_token", &["hf_"], r"\bhf_([A-Za-z]{34})\b"),
    vendor("sendgrid_key", &["sg."], r"\bSG\.([A-Za-z0-9_\-]{22}\.[A-Za-z0-9_\-]{43})"),
    vendor("digitalocean_token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"\bdo[opr]_v1_([a-f0-9]{64})\b"),
    vendor("docker_hub_token", &["dckr_pat_"], r"\bdckr_pat_([A-Za-z0-9_\-]{27,32})"),
    vendor("shopify_token", &["shpat_", "shpss_", "shpca_"], r"\bshp(?:at|ss|ca)_([a-fA-F0-9]{32})\b"),
    vendor("vault_token", &["hvs."], r"\bhvs\.([A-Za-z0-9_\-]{24,250})"),
    vendor("databricks_token", &["dapi"], r"\bdapi([a-f0-9]{32})\b"),
    vendor("azure_storage_key", &["accountkey="], r"(?i)AccountKey=([A-Za-z0-9+/]{86}==)"),
    vendor("json_web_token", &["eyj"], r"\beyJ([A-Za-z0-9_\-]{10,250}\.eyJ[A-Za-z0-9_\-]{10,})"),
    vendor(
        "authorization_header",
        &["authorization"],
        concat!(
            r#"(?i)\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?"#,
            r"(?:bearer|basic|token)\s{1,4}([A-Za-z0-9+/=._~\-]{16,250})",
        ),
    ),
    Rule {
        id: "database_url",
        keywords: &["postgres", "mysql", "mongodb", "redis", "amqp", "mariadb"],
        pattern: concat!(
            r"(?i)\b(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?)://",
            r"[^\s/:@]{0,64}:([^\s/@]{3,128})@[^\s/]",
        ),
        entropy_min_millibits: 1_500,
        severity: Severity::Block,
    },
    Rule {
        id: "url_with_password",
        keywords: &["://"],
        pattern: r"(?i)\b[a-z][a-z0-9+.\-]{1,15}://[^\s/:@]{1,64}:([^\s/@]{3,128})@[^\s/]",
        entropy_min_millibits: 1_500,
        severity: Severity::Review,
    },
    generic(
        "generic_secret",
        &["secret", "token", "password", "passwd", "api_key", "apikey", "api-key"],
        concat!(
            r#"(?i)(?:secret|token|passwd|password|api[_\-]?key)[a-z0-9_\-]{0,20}["']?"#,
            r#"\s{0,4}(?::|=>?|:=)\s{0,4}["']?([A-Za-z0-9+/=_.~!@#$%^&*\-]{12,200})"#,
        ),
    ),
];

/// What a match that contains one of these is: a placeholder.
pub(super) const PLACEHOLDERS: &[&str] = &[
    "example",
    "placeholder",
    "changeme",
    "change_me",
    "your_",
    "your-",
    "yourtoken",
    "xxxxxxxx",
    "00000000",
    "12345678",
    "abcdefgh",
    "redacted",
    "********",
    "dummy",
    "sample",
    "${",
    "{{",
    "process.env",
    "os.environ",
];
