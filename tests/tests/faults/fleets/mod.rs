//! Several dispatchers and writers at once. On the servers each dispatcher has a share of the shards.

mod unowned;
mod churn;
mod crowd;
mod shares;

use super::{clocks, freezes, server::Server, site::Site};

macro_rules! fleet {
    ($server:ident, $module:ident) => {
        mod $module {
            use super::*;

            #[tokio::test]
            async fn dispatchers_that_come_and_go_lose_and_reorder_nothing() {
                churn::come_and_go(Site::on(Server::$server).await).await;
            }

            #[tokio::test]
            async fn sixteen_that_start_at_once_handle_each_event_once() {
                crowd::each_event_is_handled_by_one(Site::on(Server::$server).await).await;
            }

            #[tokio::test]
            async fn live_dispatchers_share_the_shards_evenly() {
                shares::stay_even(Site::on(Server::$server).await).await;
            }

            #[tokio::test]
            async fn for_wrong_clocks_nothing_is_early_late_or_lost() {
                clocks::only_the_databases_clock_counts(Site::on(Server::$server).await).await;
            }

            #[tokio::test]
            async fn handlers_that_block_the_runtime_keep_the_lease() {
                freezes::blocked_leases_are_kept(Site::on(Server::$server).await).await;
            }

            #[tokio::test]
            async fn a_stopped_dispatcher_writes_no_retry_and_no_dead_letter() {
                freezes::nothing_fenced_is_written(Site::on(Server::$server).await).await;
            }

            #[tokio::test]
            async fn a_stopped_dispatcher_drops_its_handlers_when_it_goes_on() {
                freezes::handlers_are_dropped(Site::on(Server::$server).await).await;
            }
        }
    };
}

/// One delivers, and the others stand by.
mod sqlite {
    use super::*;

    #[tokio::test]
    async fn dispatchers_that_come_and_go_lose_and_reorder_nothing() {
        churn::come_and_go(Site::on(Server::Sqlite).await).await;
    }

    #[tokio::test]
    async fn sixteen_that_start_at_once_handle_each_event_once() {
        crowd::each_event_is_handled_by_one(Site::on(Server::Sqlite).await).await;
    }
}

mod pooled {
    use super::*;

    #[tokio::test]
    async fn dispatchers_that_come_and_go_lose_and_reorder_nothing() {
        churn::come_and_go(Site::behind_a_pooler().await).await;
    }

    #[tokio::test]
    async fn live_dispatchers_share_the_shards_evenly() {
        shares::stay_even(Site::behind_a_pooler().await).await;
    }
}

fleet!(Postgres, postgres);
fleet!(MariaDb, mariadb);
